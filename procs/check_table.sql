-- Purpose: everything that could stop the publish of one table of a run in the middle.
-- Errors:  S9013, S9014.
CREATE FUNCTION cs9.check_table(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_table$
#variable_conflict error
BEGIN
    PERFORM cs9.check_empty(p_run_id, p_table_id);
    PERFORM cs9.check_columns(p_run_id, p_table_id);
    PERFORM cs9.check_privileges(p_run_id, p_table_id);
    PERFORM cs9.check_partitions(p_run_id, p_table_id);
    PERFORM cs9.check_constraints(p_run_id, p_table_id);
    IF cs9.publish_mode_of(p_run_id, p_table_id) = 'swap' THEN
        PERFORM cs9.check_swap(p_run_id, p_table_id);
        PERFORM cs9.prepare_swap(p_run_id, p_table_id);
    ELSE
        PERFORM cs9.check_key(p_run_id, p_table_id);
        PERFORM cs9.check_unique(p_run_id, p_table_id);
        PERFORM cs9.check_foreign_keys_out(p_run_id, p_table_id);
        PERFORM cs9.check_foreign_keys_in(p_run_id, p_table_id);
    END IF;
END;
$check_table$;
COMMENT ON FUNCTION cs9.check_table(bigint, integer) IS 'Looks for everything that could stop the publish of a table in the middle';
