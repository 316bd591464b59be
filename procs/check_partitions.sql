-- Purpose: every staged row must have a partition to go to.
-- Errors:  S9013 names the first row that has none.
CREATE FUNCTION cs9.check_partitions(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_partitions$
#variable_conflict error
DECLARE
    v_staged text     := cs9.staged_label(p_run_id, p_table_id);
    v_live   regclass := to_regclass(cs9.table_label(p_table_id));
    v_bounds text;
    v_row    text;
BEGIN
    IF v_staged IS NULL OR NOT EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS t WHERE t.partrelid = v_live) THEN
        RETURN;
    END IF;
    SELECT string_agg(format('(%s)', coalesce(pg_get_partition_constraintdef(leaf::oid), 'true')), ' OR ') INTO v_bounds
    FROM cs9.leaf_relations(p_table_id) AS leaf;

    EXECUTE format('SELECT s::text FROM %s AS s WHERE (%s) IS NOT TRUE LIMIT 1', v_staged, coalesce(v_bounds, 'false'))
    INTO v_row;
    IF v_row IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, 'a staged row has no partition to go to',
            format('The row is %s.', left(v_row, 200)), 'Add the partition to the definition and generate, or correct the row.');
    END IF;
END;
$check_partitions$;
COMMENT ON FUNCTION cs9.check_partitions(bigint, integer) IS 'Refuses staged rows that no partition takes';
