-- Purpose: split staged rows that go to several partitions, and give the staged tables all that the partitions have whose place they take: checks, indexes, settings. It is
--          done before the switch, which then has nothing left to build.
-- Contract: can be called again: what is there already is kept. The rows were checked before.
CREATE FUNCTION cs9.prepare_swap(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $prepare_swap$
#variable_conflict error
DECLARE
    v_pair record;
BEGIN
    PERFORM cs9.split_rows(p_run_id, p_table_id);
    FOR v_pair IN
        SELECT p.* FROM cs9.swap_pairs(p_run_id, p_table_id) AS p WHERE p.staged IS NOT NULL
    LOOP
        PERFORM cs9.copy_partition_settings(p_table_id, v_pair.leaf, v_pair.staged);
        PERFORM cs9.copy_partition_checks(p_table_id, v_pair.leaf, v_pair.staged);
        PERFORM cs9.build_partition_indexes(p_run_id, p_table_id, v_pair.leaf, v_pair.staged);
    END LOOP;
END;
$prepare_swap$;
COMMENT ON FUNCTION cs9.prepare_swap(bigint, integer) IS 'Gives staged tables the checks, indexes and settings of the partitions whose place they take';
