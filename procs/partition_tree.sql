-- Purpose: a table and its partitions on all levels, as the catalogue has them. No lock is taken: pg_partition_tree takes one on
--          every partition, and keeps it.
-- Returns: level, 0 for the table itself; parent, null for it; is_leaf, whether it holds rows. Nothing where there is no table.
CREATE FUNCTION cs9.partition_tree(p_relation regclass)
RETURNS TABLE (relation regclass, parent regclass, level integer, is_leaf boolean)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $partition_tree$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH RECURSIVE tree AS (
        SELECT c.oid, NULL::oid AS inhparent, 0 AS n, c.relkind
        FROM pg_catalog.pg_class AS c
        WHERE c.oid = p_relation
        UNION ALL
        SELECT c.oid, i.inhparent, t.n + 1, c.relkind
        FROM tree AS t
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.oid AND NOT i.inhdetachpending
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE t.relkind = 'p'
    )
    SELECT t.oid::regclass, t.inhparent::regclass, t.n, t.relkind <> 'p'
    FROM tree AS t;
END;
$partition_tree$;
COMMENT ON FUNCTION cs9.partition_tree(regclass) IS 'A table and its partitions on all levels, without a lock on them';
