-- Purpose: the default partition that PostgreSQL would read, row by row, while a swap holds its readers up: it attaches the
--          successor of a partition only when no row of the default one beside it belongs there. One that is replaced
--          too is not there at that moment; a small one costs nothing; and one with a check that says the same as its
--          bound need not be read.
-- Returns: null when there is none.
CREATE FUNCTION cs9.swap_reads(p_run_id bigint, p_table_id integer)
RETURNS regclass
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $swap_reads$
#variable_conflict error
DECLARE
    c_small CONSTANT bigint := 8 * 1024 * 1024;  -- bytes that are read in a few milliseconds
BEGIN
    RETURN (
        WITH pair AS MATERIALIZED (
            SELECT s.leaf, s.parent FROM cs9.swap_pairs(p_run_id, p_table_id) AS s WHERE s.takes
        )
        SELECT t.relation
        FROM pg_catalog.pg_partitioned_table AS p
        CROSS JOIN LATERAL cs9.partition_tree(p.partdefid) AS t
        WHERE p.partdefid <> 0 AND t.is_leaf
          AND p.partrelid IN (SELECT r.parent FROM pair AS r WHERE r.leaf <> p.partdefid)
          AND t.relation NOT IN (SELECT r.leaf FROM pair AS r)
          AND pg_relation_size(t.relation) > c_small
          AND NOT EXISTS (
              SELECT
              FROM pg_catalog.pg_constraint AS c
              WHERE c.conrelid = t.relation AND c.contype = 'c' AND c.convalidated
                AND pg_get_expr(c.conbin, c.conrelid) = pg_get_partition_constraintdef(t.relation))
        ORDER BY t.relation::text COLLATE "C"
        LIMIT 1
    );
END;
$swap_reads$;
COMMENT ON FUNCTION cs9.swap_reads(bigint, integer) IS 'The default partition that a swap would have to read, or null';
