-- Purpose: the first transaction of a publish: the CALL owns the task from here to its end. A session that owns the task
--          already hands it over.
-- Returns: run_id.
-- Contract: the claim is the transaction's number in the task's row, which each piece writes again (cs9.hold_task). It
--           needs no lock of the session, and ends with the CALL in every case.
-- Locks:   those of cs9.lock_task.
-- Errors:  S9001 another session owns the task; S9002 unknown run; S9003 not ready; S9004 published; S9005 discarded;
--          S9016 bad argument; S9023 nothing can be written here; S9024 a lock was not had; 42501 the login may not publish it.
CREATE FUNCTION cs9.claim_publish(p_task text, p_run_key text, p_batch_rows integer, p_movers integer)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $claim_publish$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.assert_writable();
    PERFORM cs9.assert_read_committed();
    -- looked at here too, while a session that owns the task still does
    PERFORM cs9.check_count('batch_rows', p_batch_rows, 'how many rows one transaction moves');
    PERFORM cs9.check_count('movers', p_movers, 'how many sessions may move rows at once');
    v_run := cs9.find_run(p_task, p_run_key);
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'publisher');
    PERFORM cs9.assert_publishable(v_run);
    PERFORM cs9.lock_task(v_run.task_id);
    UPDATE cs9.task AS t
    SET owner_pid = pg_backend_pid(), claim = NULL, publisher = cs9.current_transaction(), server_start = pg_postmaster_start_time()
    WHERE t.task_id = v_run.task_id;
    PERFORM cs9.commit_here();
    RETURN v_run.run_id;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.publish');
        RETURN NULL;
END;
$claim_publish$;
COMMENT ON FUNCTION cs9.claim_publish(text, text, integer, integer) IS 'Makes a CALL the owner of the task, for as long as it lives';
