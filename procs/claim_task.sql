-- Purpose: make this session the owner of a task, until it gives it back, or ends. Life is a live session.
-- Contract: can be repeated in the session that owns it already. The claim is in the task's row: a rollback takes it
--           back, and the advisory lock that is left in the session then means nothing.
-- Locks:   an advisory lock of the session, with a number that no other claim ever had; those of cs9.lock_task.
-- Errors:  S9001 when another session owns the task.
CREATE FUNCTION cs9.claim_task(p_task text)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $claim_task$
#variable_conflict error
DECLARE
    v_task_id integer;
    v_claim   integer;
BEGIN
    PERFORM cs9.bound_lock_wait();
    SELECT t.task_id INTO v_task_id FROM cs9.task AS t WHERE t.task = p_task;
    IF NOT FOUND THEN
        INSERT INTO cs9.task (task) VALUES (p_task) ON CONFLICT DO NOTHING;
        SELECT t.task_id INTO STRICT v_task_id FROM cs9.task AS t WHERE t.task = p_task;
    END IF;

    PERFORM cs9.lock_task(v_task_id);
    IF cs9.owns_task(v_task_id) THEN
        RETURN v_task_id;
    END IF;
    PERFORM cs9.drop_claims();
    LOOP
        v_claim := nextval('cs9.claim_number');
        EXIT WHEN pg_try_advisory_lock(cs9.lock_class(), v_claim);
    END LOOP;
    UPDATE cs9.task AS t
    SET owner_pid = pg_backend_pid(), claim = v_claim, publisher = NULL, server_start = pg_postmaster_start_time()
    WHERE t.task_id = v_task_id;
    RETURN v_task_id;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'task % is owned by another session', quote_literal(p_task)
            USING ERRCODE = 'S9001',
                  DETAIL = format('A transaction that begins its first run has not ended within %s: %s.', cs9.setting('lock_timeout', '2s'),
                                  cs9.lock_holders('cs9.task')),
                  HINT = 'Wait until it has ended.',
                  SCHEMA = 'cs9', TABLE = 'task';
END;
$claim_task$;
COMMENT ON FUNCTION cs9.claim_task(text) IS 'Makes this session the owner of a task, or fails with S9001';
