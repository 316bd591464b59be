-- Purpose: where and how a partition is stored, as the end of the CREATE TABLE of what will take its place.
-- Returns: USING … TABLESPACE …; nothing where there is no partition, or one that has partitions of its own.
CREATE FUNCTION cs9.partition_place(p_leaf regclass)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $partition_place$
#variable_conflict error
BEGIN
    RETURN coalesce((
        SELECT format('USING %I', m.amname) || CASE WHEN c.reltablespace <> 0 THEN format(' TABLESPACE %I', cs9.tablespace_name(c.reltablespace)) ELSE '' END
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_am AS m ON m.oid = c.relam
        WHERE c.oid = p_leaf AND c.relkind = 'r'
    ), '');
END;
$partition_place$;
COMMENT ON FUNCTION cs9.partition_place(regclass) IS 'USING and TABLESPACE of what will take the place of a partition';
