-- Purpose: a table and its partitions on all levels, as the catalogue has them. No lock is taken: pg_partition_tree takes one on
--          every partition, and keeps it.
-- How:     of pg_class nothing is read for a partition: there may be thousands of them.
-- Returns: level, 0 for the table itself; parent, null for it; is_leaf, whether it holds rows. Nothing where there is no table.
CREATE FUNCTION cs9.partition_tree(p_relation regclass)
RETURNS TABLE (relation regclass, parent regclass, level integer, is_leaf boolean)
LANGUAGE plpgsql
STABLE
ROWS 30
SET search_path = pg_catalog, pg_temp
AS $partition_tree$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH RECURSIVE split AS (
        SELECT p.partrelid, 0 AS n
        FROM pg_catalog.pg_partitioned_table AS p
        WHERE p.partrelid = p_relation
        UNION ALL
        SELECT p.partrelid, s.n + 1
        FROM split AS s
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent = s.partrelid AND NOT i.inhdetachpending
        JOIN pg_catalog.pg_partitioned_table AS p ON p.partrelid = i.inhrelid
    )
    SELECT c.oid::regclass, NULL::regclass, 0, c.relkind <> 'p'
    FROM pg_catalog.pg_class AS c
    WHERE c.oid = p_relation
    UNION ALL
    SELECT i.inhrelid::regclass, i.inhparent::regclass, s.n + 1, p.partrelid IS NULL
    FROM split AS s
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent = s.partrelid AND NOT i.inhdetachpending
    LEFT JOIN pg_catalog.pg_partitioned_table AS p ON p.partrelid = i.inhrelid;
END;
$partition_tree$;
COMMENT ON FUNCTION cs9.partition_tree(regclass) IS 'A table and its partitions on all levels, without a lock on them';
