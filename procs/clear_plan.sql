-- Purpose: remove what a plan staged: its rows in each of the run's own tables, and its recorded deletes.
-- Contract: the plan is running and the session's settings name it: the fence applies to this as to any write.
-- Errors:  S9018 what the run staged is gone; S9024 what was staged is locked.
CREATE FUNCTION cs9.clear_plan(p_run_id bigint, p_plan integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET constraint_exclusion = off   -- to plan by a check of the user's would be to evaluate it, under this search_path
AS $clear_plan$
#variable_conflict error
DECLARE
    v_table integer;
BEGIN
    PERFORM cs9.assert_staged(p_run_id);
    DELETE FROM cs9.staged_delete AS d WHERE d.run_id = p_run_id AND d.plan = p_plan;
    FOR v_table IN
        SELECT t.table_id
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.staged_name IS NOT NULL
        ORDER BY t.table_id
    LOOP
        PERFORM cs9.lock_staged(p_run_id, v_table, 'ROW EXCLUSIVE');
        EXECUTE format('DELETE FROM %s WHERE cs9_plan = $1', cs9.staged_label(p_run_id, v_table)) USING p_plan;
    END LOOP;
END;
$clear_plan$;
COMMENT ON FUNCTION cs9.clear_plan(bigint, integer) IS 'Removes the staged rows and recorded deletes of a plan';
