-- Purpose: begin a publish, or go on with one that stopped: check once more that nothing can stop the publish in the
--          middle, and record its steps.
-- Returns: run_id.
-- Contract: the session owns the task: by cs9.claim_publish in the transaction before, or by cs9.claim_run.
-- Locks:   those of cs9.hold_task; the run's row, FOR UPDATE.
-- Errors:  S9002 unknown run; S9003 not ready; S9004 published; S9005 discarded;
--          S9009 not a table of the run; S9010 unknown table; S9013, S9014 it could not finish; S9016 bad argument; S9017 a table is locked;
--          S9018 what it staged is gone; S9019; S9023 nothing can be written here.
CREATE FUNCTION cs9.begin_publish(p_task text, p_run_key text, p_table text, p_batch_rows integer, p_movers integer DEFAULT 1)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $begin_publish$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    PERFORM cs9.assert_writable();
    PERFORM cs9.assert_read_committed();
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.check_count('batch_rows', p_batch_rows, 'how many rows one transaction moves');
    PERFORM cs9.check_count('movers', p_movers, 'how many sessions may move rows at once');
    v_run := cs9.find_run(p_task, p_run_key);
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'publisher');
    IF p_table IS NOT NULL THEN
        PERFORM cs9.assert_run_table(v_run.run_id, cs9.find_table(p_table));
    END IF;
    PERFORM cs9.hold_task(v_run.run_id);

    v_run := cs9.lock_run(p_task, v_run.run_id);
    PERFORM cs9.assert_publishable(v_run);
    PERFORM cs9.assert_staged(v_run.run_id);
    PERFORM cs9.check_settings();
    PERFORM cs9.use_settings(v_run.settings);
    IF v_run.state = 'ready' THEN
        PERFORM cs9.assert_all_staged(v_run.run_id);
        PERFORM cs9.check_publish(v_run.run_id);
        PERFORM cs9.try_triggers(v_run.run_id);
        PERFORM cs9.record_steps(v_run.run_id, p_movers);
        UPDATE cs9.run AS r
        SET state = 'publishing', publishing_at = clock_timestamp(), error = NULL
        WHERE r.run_id = v_run.run_id;
    END IF;
    PERFORM cs9.commit_here();
    RETURN v_run.run_id;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'the publish of run % did not begin: a table is locked by another session', quote_nullable(p_run_key)
            USING ERRCODE = 'S9017',
                  DETAIL = format('%s, after %s; %s. No live row was touched.', SQLERRM, cs9.setting('lock_timeout', '2s'), cs9.strongest_locks()),
                  HINT = 'Call it again when the lock is gone.',
                  SCHEMA = 'cs9', TABLE = 'run';
END;
$begin_publish$;
COMMENT ON FUNCTION cs9.begin_publish(text, text, text, integer, integer) IS 'Checks a run that is ready, and records the steps of its publish';
