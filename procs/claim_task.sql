-- Purpose: make this session the owner of a task. Life is a live session: the lock goes when the session does.
-- Contract: can be repeated in the session that owns it already.
-- Locks:   the task's advisory lock, session level; it outlives the transaction and its rollback.
-- Errors:  S9001 when another session owns the task.
CREATE FUNCTION cs9.claim_task(p_task text)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $claim_task$
#variable_conflict error
DECLARE
    v_task_id integer;
    v_run     record;
BEGIN
    SELECT t.task_id INTO v_task_id FROM cs9.task AS t WHERE t.task = p_task;
    IF NOT FOUND THEN
        INSERT INTO cs9.task (task) VALUES (p_task) ON CONFLICT DO NOTHING;
        SELECT t.task_id INTO STRICT v_task_id FROM cs9.task AS t WHERE t.task = p_task;
    END IF;

    IF cs9.owns_task(v_task_id) OR pg_try_advisory_lock(cs9.lock_class(), v_task_id) THEN
        RETURN v_task_id;
    END IF;

    SELECT r.run_key, r.owner, r.attempt, r.attempt_at INTO v_run
    FROM cs9.run AS r
    WHERE r.task_id = v_task_id AND r.state IN ('running', 'ready', 'publishing')
    ORDER BY r.attempt_at DESC
    LIMIT 1;

    RAISE EXCEPTION 'task % is owned by another session', quote_literal(p_task)
        USING ERRCODE = 'S9001',
              DETAIL = format('Process %s of this server owns it; run key %L, attempt %s%s since %s.',
                              cs9.task_owner(v_task_id), v_run.run_key, v_run.attempt,
                              coalesce(format(' by %L', nullif(v_run.owner, '')), ''), v_run.attempt_at),
              HINT = 'Wait until it has ended. It is alive as long as its session is; pg_terminate_backend ends a session that hangs.',
              SCHEMA = 'cs9', TABLE = 'run';
END;
$claim_task$;
COMMENT ON FUNCTION cs9.claim_task(text) IS 'Takes the session-level lock of a task, or fails with S9001';
