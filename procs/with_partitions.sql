-- Purpose: the relations that a table is made of: itself, and its partitions on every level. Nothing where there is no table.
CREATE FUNCTION cs9.with_partitions(p_relation regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $with_partitions$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT c.oid::regclass
    FROM cs9.partition_tree(p_relation) AS t
    JOIN pg_catalog.pg_class AS c ON c.oid = t.relation
    ORDER BY c.relname COLLATE "C";
END;
$with_partitions$;
COMMENT ON FUNCTION cs9.with_partitions(regclass) IS 'The table itself and its partitions on every level';
