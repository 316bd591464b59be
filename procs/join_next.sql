-- Purpose: the body of the loop of cs9.join_publish: move a batch of a range that no other session is at work on.
-- Contract: what meets a lock is tried again, as long as the session that publishes is there.
-- Returns:
--   more     false when no move is left, the run is published, or the session that publishes has gone
--   pause    how many seconds to wait before the next call, where nothing could be taken
--   message, detail  what was done, as cs9.describe_step says it
-- Locks:   the run's row, FOR SHARE, and the step's row, FOR UPDATE: neither is waited for, unless nobody is alive who publishes.
-- Errors:  S9002 unknown run; S9003 not publishing, and nobody alive to begin it; S9016 bad argument; S9018;
--          S9023 nothing can be written here; S9024 a lock was not had.
CREATE FUNCTION cs9.join_next(
    p_task       text,
    p_run_key    text,
    p_batch_rows integer,
    OUT more     boolean,
    OUT pause    double precision,
    OUT message  text,
    OUT detail   text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $join_next$
#variable_conflict error
DECLARE
    v_run   cs9.run;
    v_alive boolean;
    v_step  cs9.publish_step;
    v_moved cs9.publish_step;
BEGIN
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.assert_writable();
    v_run := cs9.find_run(p_task, p_run_key);
    PERFORM cs9.check_count('batch_rows', p_batch_rows, 'how many rows one transaction moves');
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'publisher');
    -- a session that owns the task would wait for itself
    v_alive := NOT cs9.owns_task(v_run.task_id) AND cs9.is_owned(v_run.task_id);
    SELECT r.* INTO v_run FROM cs9.run AS r WHERE r.run_id = v_run.run_id FOR SHARE SKIP LOCKED;
    IF v_run.run_id IS NULL AND NOT v_alive THEN
        v_run := cs9.find_run(p_task, p_run_key);
        PERFORM cs9.await_row('cs9.run', format('run_id = %s', v_run.run_id), 'SHARE', false);
    END IF;
    more := true;
    BEGIN
        IF v_run.state = 'publishing' THEN
            SELECT s.* INTO v_step FROM cs9.next_step(v_run.run_id, NULL, false) AS s;
            IF v_step.kind = 'move' AND v_step.state = 'pending' THEN
                PERFORM cs9.check_settings();
                PERFORM cs9.use_settings(v_run.settings);
                PERFORM cs9.commit_here();
                v_moved := cs9.run_step(v_step, p_batch_rows);
                SELECT d.* INTO message, detail FROM cs9.describe_step(v_moved, v_moved.rows_done - v_step.rows_done) AS d;
                RETURN;
            END IF;
            more := v_alive AND EXISTS (
                SELECT FROM cs9.publish_step AS s
                WHERE s.run_id = v_run.run_id AND s.kind = 'move' AND s.state = 'pending');
        ELSIF v_run.state IN ('published', 'discarded') THEN
            more := false;
        ELSIF v_run.run_id IS NOT NULL AND NOT v_alive THEN
            RAISE EXCEPTION 'run % is not being published: it is %', quote_literal(p_run_key), v_run.state
                USING ERRCODE = 'S9003',
                      DETAIL = 'No session is alive that would begin its publish.',
                      HINT = 'CALL cs9.publish(task, run_key, movers => 2) in another session first.',
                      SCHEMA = 'cs9', TABLE = 'run';
        END IF;
        pause := 0.05;
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
            more := v_alive;  -- the session that publishes counts the tries
            pause := 1;
    END;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.join_publish');
END;
$join_next$;
COMMENT ON FUNCTION cs9.join_next(text, text, integer) IS 'Moves a batch of a publish that another session runs; called by cs9.join_publish, which commits';
