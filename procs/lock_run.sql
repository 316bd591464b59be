-- Purpose: lock a run's row against everything else that stages, begins or publishes it.
-- Contract: waits for the writes of an earlier attempt that are still in flight, but not longer than cs9.lock_timeout.
-- Locks:   the row of cs9.run, FOR UPDATE.
-- Errors:  S9001 when a write of the earlier attempt does not end in time.
CREATE FUNCTION cs9.lock_run(p_task text, p_run_id bigint)
RETURNS cs9.run
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $lock_run$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    PERFORM cs9.bound_lock_wait();
    SELECT r.* INTO STRICT v_run FROM cs9.run AS r WHERE r.run_id = p_run_id FOR UPDATE;
    RETURN v_run;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'a write of the earlier attempt of task % is still in flight', quote_literal(p_task)
            USING ERRCODE = 'S9001',
                  DETAIL = format('It did not end within %s: %s.', cs9.setting('lock_timeout', '2s'),
                                  cs9.row_holders('cs9.run', format('run_id = %s', p_run_id))),
                  HINT = 'Try again when it has ended; pg_stat_activity shows it, pg_terminate_backend ends it.',
                  SCHEMA = 'cs9', TABLE = 'run';
END;
$lock_run$;
COMMENT ON FUNCTION cs9.lock_run(text, bigint) IS 'Locks the row of a run, within a bounded wait';
