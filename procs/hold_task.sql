-- Purpose: what ends a run, and each piece of a publish, is for the session that owns the task alone. A CALL writes its
--          transaction into the task's row, by which it is seen to be alive in this one and at the begin of the next.
-- Locks:   the row of cs9.task, FOR NO KEY UPDATE to the end of the transaction: nobody takes the task meanwhile. Whoever has
--          locked it is waited for as long as cs9.lock_timeout says.
-- Errors:  S9019; S9024 another session holds the task's row.
CREATE FUNCTION cs9.hold_task(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $hold_task$
#variable_conflict error
DECLARE
    v_task_id integer;
    v_task    cs9.task;
BEGIN
    SELECT r.task_id INTO v_task_id FROM cs9.run AS r WHERE r.run_id = p_run_id;
    SELECT t.* INTO v_task FROM cs9.task AS t WHERE t.task_id = v_task_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND AND v_task_id IS NOT NULL THEN
        PERFORM cs9.await_row('cs9.task', format('task_id = %s', v_task_id), 'NO KEY UPDATE', false);
        SELECT t.* INTO v_task FROM cs9.task AS t WHERE t.task_id = v_task_id FOR NO KEY UPDATE;
    END IF;
    IF v_task.owner_pid IS DISTINCT FROM pg_backend_pid() OR cs9.owner_alive(v_task) IS NOT TRUE THEN
        RAISE EXCEPTION 'this session does not own run %', p_run_id
            USING ERRCODE = 'S9019',
                  DETAIL = format('Its process is %s; the owner is %s.', pg_backend_pid(),
                                  coalesce(cs9.task_owner(v_task.task_id)::text, 'none')),
                  HINT = 'Call it in the session that called cs9.begin_run, not through a pool that changes sessions; or begin a new attempt.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    IF v_task.publisher IS NOT NULL THEN
        UPDATE cs9.task AS t SET publisher = cs9.current_transaction() WHERE t.task_id = v_task.task_id;
        PERFORM cs9.drop_claims();
    END IF;
END;
$hold_task$;
COMMENT ON FUNCTION cs9.hold_task(bigint) IS 'Fails unless this session owns the task of the run; keeps a CALL its owner';
