-- Purpose: give a run up: what it staged is dropped, and its run key is free again.
-- Contract: p_force also gives up a run that is publishing. Its committed steps stay: the live tables keep a part.
--           A session that owns the task gives it back. Nobody begins or publishes a run of the task meanwhile.
-- Locks:   those of cs9.lock_task, cs9.lock_run and cs9.drop_staged. Nothing is waited for longer than cs9.lock_timeout.
-- Errors:  S9001 the run is alive; S9002 unknown run; S9003 it is publishing; S9004 published; S9005 discarded;
--          S9016 the transaction is not READ COMMITTED; S9023 nothing can be written here; S9024 a lock was not had.
CREATE FUNCTION cs9.discard_run(p_task text, p_run_key text, p_force boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $discard_run$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.assert_writable();
    PERFORM cs9.assert_read_committed();
    v_run := cs9.find_run(p_task, p_run_key);
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'runner');
    PERFORM cs9.lock_task(v_run.task_id);
    v_run := cs9.lock_run(p_task, v_run.run_id);
    IF v_run.state IN ('published', 'discarded') OR (v_run.state = 'publishing' AND NOT coalesce(p_force, false)) THEN
        RAISE EXCEPTION 'run % cannot be discarded: it is %', quote_literal(p_run_key), v_run.state
            USING ERRCODE = CASE v_run.state WHEN 'published' THEN 'S9004' WHEN 'discarded' THEN 'S9005' ELSE 'S9003' END,
                  DETAIL = CASE v_run.state
                      WHEN 'publishing' THEN 'Some of its steps are committed: the live tables hold a part of it.'
                      ELSE format('It ended at %s.', v_run.ended_at)
                  END,
                  HINT = CASE v_run.state
                      WHEN 'publishing' THEN 'Finish it with CALL cs9.publish(task, run_key); p_force discards it all the same and leaves the part.'
                      ELSE 'There is nothing to do.'
                  END,
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;

    PERFORM cs9.drop_leftovers();
    PERFORM cs9.drop_staged(v_run.run_id);
    UPDATE cs9.run AS r
    SET state = 'discarded', is_current = false, ended_at = clock_timestamp()
    WHERE r.run_id = v_run.run_id;
    PERFORM cs9.release_task(v_run.task_id);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.discard_run');
END;
$discard_run$;
COMMENT ON FUNCTION cs9.discard_run(text, text, boolean) IS 'Drops what a run staged and frees its run key';
