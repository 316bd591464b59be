-- Purpose: the run's own table for a live table, and its partitions where it is split for a swap.
CREATE FUNCTION cs9.staged_relations(p_run_id bigint, p_table_id integer)
RETURNS SETOF regclass
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $staged_relations$
#variable_conflict error
DECLARE
    v_staged CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
BEGIN
    RETURN QUERY
    SELECT v_staged WHERE v_staged IS NOT NULL
    UNION
    SELECT t.relid FROM pg_partition_tree(v_staged) AS t;
END;
$staged_relations$;
COMMENT ON FUNCTION cs9.staged_relations(bigint, integer) IS 'The run''s own table for a live table, and its partitions';
