-- Purpose: lock the row of a task that no other session owns: what follows in this transaction is alone with the task.
-- Returns: the row as it is now. It may name this session, or an owner that has gone.
-- Locks:   the row of cs9.task, FOR NO KEY UPDATE, waited for no longer than cs9.lock_timeout.
-- Errors:  S9001 when another session owns the task, or is about to.
CREATE FUNCTION cs9.lock_task(p_task_id integer)
RETURNS cs9.task
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $lock_task$
#variable_conflict error
DECLARE
    v_task   cs9.task;
    v_run    record;
    v_detail text;
BEGIN
    PERFORM cs9.bound_lock_wait();
    -- whoever is seen to be alive need not be waited for
    SELECT t.* INTO STRICT v_task FROM cs9.task AS t WHERE t.task_id = p_task_id;
    IF v_task.owner_pid = pg_backend_pid() OR cs9.owner_alive(v_task) IS NOT TRUE THEN
        BEGIN
            SELECT t.* INTO STRICT v_task FROM cs9.task AS t WHERE t.task_id = p_task_id FOR NO KEY UPDATE;
            IF v_task.owner_pid = pg_backend_pid() OR NOT cs9.is_owned(p_task_id) THEN
                RETURN v_task;
            END IF;
        EXCEPTION
            WHEN lock_not_available THEN
                v_detail := format('A transaction of another session has held it for %s and more: %s. ', cs9.setting('lock_timeout', '2s'),
                                   cs9.row_holders('cs9.task', format('task_id = %s', p_task_id)));
        END;
    END IF;

    SELECT r.run_key, r.owner, r.attempt, r.attempt_at INTO v_run
    FROM cs9.run AS r
    WHERE r.task_id = p_task_id AND r.state IN ('running', 'ready', 'publishing')
    ORDER BY r.attempt_at DESC
    LIMIT 1;
    RAISE EXCEPTION 'task % is owned by another session', quote_literal(v_task.task)
        USING ERRCODE = 'S9001',
              DETAIL = concat(v_detail, format('Process %s of this server owns it', v_task.owner_pid),
                              CASE WHEN v_run.run_key IS NOT NULL THEN
                                  format('; run key %L, attempt %s%s since %s', v_run.run_key, v_run.attempt, ' by ' || quote_literal(nullif(v_run.owner, '')), v_run.attempt_at)
                              END, '.'),
              HINT = 'Wait until it has ended. It is alive as long as its session is; pg_terminate_backend ends a session that hangs.',
              SCHEMA = 'cs9', TABLE = 'task';
END;
$lock_task$;
COMMENT ON FUNCTION cs9.lock_task(integer) IS 'Locks the row of a task that no other session owns, or fails with S9001';
