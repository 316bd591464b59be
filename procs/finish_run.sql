-- Purpose: all plans are done: prove that the run can be published, and make it ready.
-- Contract: each of the run's own tables is analyzed and gets a unique index on its key, which proves that each row was
--           written once. One transaction: when it fails, the run is as it was before.
-- Locks:   the row of cs9.run, FOR UPDATE; the run's own tables, SHARE ROW EXCLUSIVE: readers of them go on. No wait
--          for a lock is longer than all tries of a publish together.
-- Errors:  S9003 plans are not done; S9016 the transaction is not READ COMMITTED; S9006 stale attempt; S9019 this session does not own the task;
--          S9024 a write is still in flight, or another lock was not had; S9011 a row was written twice; S9012 a plan deletes another's rows; S9013 the publish could not finish;
--          S9014 the table would be empty; S9016 a setting of the session; S9018 what it staged is gone.
CREATE FUNCTION cs9.finish_run(p_run_id bigint, p_attempt integer)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $finish_run$
#variable_conflict error
DECLARE
    v_wait  integer;
    v_table integer;
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.assert_read_committed();
    PERFORM cs9.assert_live_attempt(p_run_id, p_attempt);
    PERFORM cs9.hold_task(p_run_id);
    PERFORM cs9.assert_role(cs9.run_tables(p_run_id), 'runner');
    PERFORM cs9.check_settings();
    PERFORM cs9.await_row('cs9.run', format('run_id = %s', p_run_id), 'UPDATE', true);

    PERFORM cs9.assert_staged(p_run_id);
    v_wait := cs9.unfinished_plan(p_run_id, p_attempt, NULL);
    IF v_wait IS NOT NULL THEN
        RAISE EXCEPTION 'plan % of run % is not done', v_wait, p_run_id
            USING ERRCODE = 'S9003',
                  DETAIL = 'Plan 1 and the last plan must be done in this attempt, every other plan in any.',
                  HINT = 'SELECT * FROM cs9.plan_status shows the plans of a run.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;

    FOR v_table IN
        SELECT t.table_id FROM cs9.run_table AS t WHERE t.run_id = p_run_id ORDER BY t.table_id
    LOOP
        PERFORM cs9.lock_staged(p_run_id, v_table, 'SHARE ROW EXCLUSIVE');
        PERFORM cs9.seal_staged(p_run_id, v_table);
        PERFORM cs9.check_deletes(p_run_id, v_table);
    END LOOP;
    PERFORM cs9.check_publish(p_run_id);

    UPDATE cs9.run AS r
    SET state = 'ready', ready_at = clock_timestamp(), error = NULL, settings = cs9.settings_of_session()
    WHERE r.run_id = p_run_id;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.finish_run');
END;
$finish_run$;
COMMENT ON FUNCTION cs9.finish_run(bigint, integer) IS 'Checks a run whose plans are done, and makes it ready to be published';
