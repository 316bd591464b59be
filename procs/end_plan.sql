-- Purpose: end a plan as done or failed, and take the session's settings back.
-- Contract: waits for writes of the plan that are still in flight; later ones are refused.
-- Errors:  S9007 the plan is not running in this attempt; those of cs9.assert_live_attempt.
CREATE FUNCTION cs9.end_plan(p_run_id bigint, p_plan integer, p_attempt integer, p_state text, p_rows bigint, p_error text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $end_plan$
#variable_conflict error
BEGIN
    PERFORM cs9.assert_live_attempt(p_run_id, p_attempt);
    PERFORM cs9.assert_role(cs9.run_tables(p_run_id), 'runner');
    UPDATE cs9.plan AS p
    SET state = p_state, rows_staged = p_rows, error = p_error, finished_at = clock_timestamp()
    WHERE p.run_id = p_run_id AND p.plan = p_plan AND p.attempt = p_attempt AND p.state = 'running';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'plan % of run % is not running in attempt %', p_plan, p_run_id, p_attempt
            USING ERRCODE = 'S9007',
                  DETAIL = 'Only a plan that is running can be ended.',
                  HINT = 'Begin it with cs9.begin_plan.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
    PERFORM set_config('cs9.run_id', '', false);
    PERFORM set_config('cs9.plan', '', false);
    PERFORM set_config('cs9.attempt', '', false);
    PERFORM set_config('cs9.op', '', false);
END;
$end_plan$;
COMMENT ON FUNCTION cs9.end_plan(bigint, integer, integer, text, bigint, text) IS 'Ends a running plan as done or failed';
