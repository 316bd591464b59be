-- Purpose: everything that could stop the publish of one table of a run in the middle.
-- How:     what PostgreSQL itself would say during a check (a function that raises for a live row, a type without an operator)
--          it would say during the publish too: it is a refusal like the others.
-- Errors:  S9013, S9014.
CREATE FUNCTION cs9.check_table(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_table$
#variable_conflict error
DECLARE
    v_tree    oid[];
    v_context text;
BEGIN
    -- a table to which the run does nothing may be locked, or gone
    IF cs9.leaves_alone(p_run_id, p_table_id) THEN
        RETURN;
    END IF;
    PERFORM cs9.check_path(p_table_id);
    PERFORM cs9.check_columns(p_run_id, p_table_id);
    PERFORM cs9.check_inherited(p_table_id);
    PERFORM cs9.check_privileges(p_run_id, p_table_id);
    PERFORM cs9.check_foreign_tables(p_run_id, p_table_id);
    PERFORM cs9.check_deleted_rows(p_run_id, p_table_id);
    PERFORM cs9.check_partitions(p_run_id, p_table_id);
    v_tree := cs9.touched_tree(p_run_id, p_table_id);
    PERFORM cs9.check_not_null(p_run_id, p_table_id, v_tree);
    PERFORM cs9.check_constraints(p_run_id, p_table_id, v_tree);
    PERFORM cs9.check_generated(p_run_id, p_table_id, v_tree);
    PERFORM cs9.check_row_size(p_run_id, p_table_id);
    PERFORM cs9.check_indexes(p_run_id, p_table_id, v_tree);
    IF cs9.publish_mode_of(p_run_id, p_table_id) = 'swap' THEN
        PERFORM cs9.check_swap(p_run_id, p_table_id);
        PERFORM cs9.prepare_swap(p_run_id, p_table_id);
    ELSE
        PERFORM cs9.check_key(p_run_id, p_table_id);
        PERFORM cs9.check_unique(p_run_id, p_table_id);
        PERFORM cs9.check_foreign_key_rights(p_run_id, p_table_id);
        PERFORM cs9.check_foreign_keys_out(p_run_id, p_table_id);
        PERFORM cs9.check_foreign_keys_in(p_run_id, p_table_id);
        PERFORM cs9.check_replica_identity(p_run_id, p_table_id);
    END IF;
    PERFORM cs9.check_empty(p_run_id, p_table_id);
EXCEPTION
    WHEN lock_not_available OR transaction_rollback OR insufficient_resources OR operator_intervention OR system_error THEN
        RAISE;
    WHEN assert_failure OR OTHERS THEN
        IF SQLSTATE LIKE 'S9%' THEN
            RAISE;
        END IF;
        GET STACKED DIAGNOSTICS v_context = PG_EXCEPTION_CONTEXT;
        PERFORM cs9.cannot_evaluate(p_table_id, 'a check of it', SQLSTATE, SQLERRM, v_context);
END;
$check_table$;
COMMENT ON FUNCTION cs9.check_table(bigint, integer) IS 'Looks for everything that could stop the publish of a table in the middle';
