-- Purpose: a new run key of a task settles what an older run left: what was not yet publishing is discarded.
-- Returns: the run key of an older run that is publishing, which must be published first; null when there is none.
-- Locks:   the row of each older run, FOR UPDATE.
CREATE FUNCTION cs9.retire_older_runs(p_task text, p_task_id integer, p_run_key text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $retire_older_runs$
#variable_conflict error
DECLARE
    v_run_id bigint;
    v_run    cs9.run;
BEGIN
    FOR v_run_id IN
        SELECT r.run_id
        FROM cs9.run AS r
        WHERE r.task_id = p_task_id
          AND r.run_key <> p_run_key
          AND r.state IN ('running', 'ready', 'publishing')
        ORDER BY r.run_id
    LOOP
        v_run := cs9.lock_run(p_task, v_run_id);
        IF v_run.state = 'publishing' THEN
            RETURN v_run.run_key;
        END IF;
        PERFORM cs9.drop_staged(v_run_id);
        UPDATE cs9.run AS r
        SET state = 'discarded', is_current = false, ended_at = clock_timestamp(),
            error = concat_ws('; ', r.error, format('discarded, because the task was started with run key %L', p_run_key))
        WHERE r.run_id = v_run_id;
    END LOOP;
    RETURN NULL;
END;
$retire_older_runs$;
COMMENT ON FUNCTION cs9.retire_older_runs(text, integer, text) IS 'Discards older unfinished runs of a task, or names one that is publishing';
