-- Purpose: a new run key of a task settles what an older run left. Proven work is published first; what a failed attempt
--          staged is discarded, and a NOTICE says so. Its DETAIL is JSON.
-- Returns: the run key of an older run that is ready or publishing, which must be published first; null when there is none.
-- Locks:   the row of each older run, FOR UPDATE.
-- Errors:  S9001 a write of an older run is still in flight; S9003 the login may not publish the older run.
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
        IF v_run.state IN ('ready', 'publishing') THEN
            IF NOT cs9.may_publish(p_task, v_run.run_key) THEN
                RAISE EXCEPTION 'run % of task % is %, and must be published before another one begins', quote_literal(v_run.run_key),
                                quote_literal(p_task), v_run.state
                    USING ERRCODE = 'S9003',
                          DETAIL = format('Login %I may not publish it.', session_user),
                          HINT = 'Let a login with the publisher role call CALL cs9.publish(task, run_key); or give it up: SELECT cs9.discard_run(task, run_key).',
                          SCHEMA = 'cs9', TABLE = 'run';
            END IF;
            RETURN v_run.run_key;
        END IF;
        PERFORM cs9.drop_staged(v_run_id);
        UPDATE cs9.run AS r
        SET state = 'discarded', is_current = false, ended_at = clock_timestamp(),
            error = concat_ws('; ', r.error, format('discarded, because the task was started with run key %L', p_run_key))
        WHERE r.run_id = v_run_id;
        RAISE NOTICE 'run % of task % had failed: what it staged is discarded, because the task was started with run key %',
                     quote_literal(v_run.run_key), quote_literal(p_task), quote_literal(p_run_key)
            USING DETAIL = jsonb_build_object('run_id', v_run_id, 'kind', 'discarded', 'run_key', v_run.run_key)::text;
    END LOOP;
    RETURN NULL;
END;
$retire_older_runs$;
COMMENT ON FUNCTION cs9.retire_older_runs(text, integer, text) IS 'Discards older failed runs of a task, or names one that must be published first';
