-- Purpose: the first call of an attempt: own the task, and learn what is known of the run key, in particular the
--          date that the planner must see, before the plan list is built.
-- Returns: run_id, state and today of the run; nulls when the run key is new.
-- Locks:   those of cs9.claim_task.
-- Errors:  S9001 another session owns the task; S9016 bad task name or run key, or the transaction is not READ COMMITTED;
--          S9023 nothing can be written here; S9024 a lock was not had.
CREATE FUNCTION cs9.claim_run(p_task text, p_run_key text, OUT run_id bigint, OUT state text, OUT today date)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $claim_run$
#variable_conflict error
DECLARE
    v_task_id integer;
BEGIN
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.assert_writable();
    PERFORM cs9.assert_read_committed();
    PERFORM cs9.check_name('task', p_task);
    PERFORM cs9.check_name('run key', p_run_key);
    v_task_id := cs9.claim_task(p_task);

    SELECT r.run_id, r.state, r.today INTO claim_run.run_id, claim_run.state, claim_run.today
    FROM cs9.run AS r
    WHERE r.task_id = v_task_id AND r.run_key = p_run_key AND r.is_current;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.claim_run');
END;
$claim_run$;
COMMENT ON FUNCTION cs9.claim_run(text, text) IS 'Owns the task and tells what is known of the run key';
