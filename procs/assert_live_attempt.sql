-- Purpose: the fence. Only the live attempt of a running run may stage or end plans.
-- Returns: how many plans the run has.
-- Locks:   the row of cs9.run, FOR SHARE to the end of the transaction, so that a new attempt waits for this write.
--          Whoever has locked it otherwise is waited for as long as all tries of a publish take together.
-- Errors:  S9002 unknown run; S9003, S9004, S9005 the run is not running; S9006 another attempt is live;
--          S9023 nothing can be written here; S9024 another session holds the run's row.
CREATE FUNCTION cs9.assert_live_attempt(p_run_id bigint, p_attempt integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $assert_live_attempt$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    PERFORM cs9.assert_writable();
    SELECT r.* INTO v_run FROM cs9.run AS r WHERE r.run_id = p_run_id FOR SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM cs9.await_row('cs9.run', format('run_id = %s', p_run_id), 'SHARE', true);
        SELECT r.* INTO v_run FROM cs9.run AS r WHERE r.run_id = p_run_id FOR SHARE;
    END IF;
    IF v_run.run_id IS NULL THEN
        RAISE EXCEPTION 'there is no run %', p_run_id
            USING ERRCODE = 'S9002',
                  DETAIL = 'cs9.begin_run gives the number of a run.',
                  HINT = 'SELECT * FROM cs9.run_status lists the runs.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    IF v_run.state <> 'running' THEN
        RAISE EXCEPTION 'run % is %, so that nothing can be staged for it', p_run_id, v_run.state
            USING ERRCODE = CASE v_run.state WHEN 'published' THEN 'S9004' WHEN 'discarded' THEN 'S9005' ELSE 'S9003' END,
                  DETAIL = format('Run key %L, attempt %s.', v_run.run_key, v_run.attempt),
                  HINT = 'Begin a new attempt or a new run with cs9.begin_run.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    IF v_run.attempt IS DISTINCT FROM p_attempt THEN
        RAISE EXCEPTION 'attempt % of run % is over: attempt % is live', p_attempt, p_run_id, v_run.attempt
            USING ERRCODE = 'S9006',
                  DETAIL = format('Run key %L was begun again%s at %s.',
                                  v_run.run_key, ' by ' || quote_literal(nullif(v_run.owner, '')), v_run.attempt_at),
                  HINT = 'Stop this program: what it goes on to write belongs to no attempt.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    RETURN v_run.plans;
END;
$assert_live_attempt$;
COMMENT ON FUNCTION cs9.assert_live_attempt(bigint, integer) IS 'Fails unless the attempt is the live one of a running run';
