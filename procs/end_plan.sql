-- Purpose: end a plan as done or failed, and begin another one in the same transaction, or take the session's settings
--          back.
-- Returns: true: run p_next. False: there is none (null), or it is done and is run once only.
-- Contract: the session's settings name the plan and its taking; a session that has none may end the plan as failed.
--          Waits for writes of the plan that are still in flight; later ones are refused.
--          A session that runs many plans comes here once for each: the path of a plan that never began is short.
-- Locks:   the rows of cs9.run (FOR SHARE) and of both plans.
-- Errors:  S9001 a write of the plan does not end in time; S9006 another session has taken the plan; S9007 the plan is not
--          running in this attempt, or the session has not begun it; S9016 the transaction is not READ COMMITTED; S9013 plan 1 is done and empties nothing of a table that the
--          run is to swap; those of cs9.assert_runner and cs9.open_plan.
CREATE FUNCTION cs9.end_plan(
    p_run_id  bigint,
    p_plan    integer,
    p_attempt integer,
    p_state   text,
    p_rows    bigint,
    p_error   text,
    p_next    integer
)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $end_plan$
#variable_conflict error
DECLARE
    v_plans integer := cs9.assert_runner(p_run_id, p_attempt);
    v_plan  cs9.plan;
BEGIN
    PERFORM cs9.assert_read_committed();
    v_plan := cs9.lock_plan(p_run_id, p_plan);
    IF v_plan.state IS DISTINCT FROM 'running' OR v_plan.attempt IS DISTINCT FROM p_attempt THEN
        RAISE EXCEPTION 'plan % of run % is not running in attempt %', p_plan, p_run_id, p_attempt
            USING ERRCODE = 'S9007',
                  DETAIL = 'Only a plan that is running can be ended.',
                  HINT = 'Begin it with cs9.begin_plan.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
    PERFORM cs9.assert_taking(v_plan, p_state = 'failed');
    UPDATE cs9.plan AS p
    SET state = p_state, rows_staged = p_rows, error = p_error, finished_at = clock_timestamp()
    WHERE p.run_id = p_run_id AND p.plan = p_plan;
    IF p_plan = 1 AND p_state = 'done' THEN
        PERFORM cs9.check_swap_early(p_run_id);
    END IF;

    -- nothing was staged for a plan that never began; and that plan 1 is done was asked when p_plan began
    IF p_state = 'done' AND p_next < v_plans THEN
        UPDATE cs9.plan AS p
        SET state = 'running', attempt = p_attempt, taking = 1, pid = pg_backend_pid(), began_at = clock_timestamp()
        WHERE p.run_id = p_run_id AND p.plan = p_next AND p.state = 'pending';
        IF FOUND THEN
            PERFORM cs9.write_for(p_run_id::text, p_next::text, p_attempt::text, '1');
            RETURN true;
        END IF;
    END IF;

    IF p_next IS NOT NULL AND cs9.open_plan(p_run_id, p_next, p_attempt, v_plans) THEN
        RETURN true;
    END IF;
    PERFORM cs9.write_for('', '', '', '');
    RETURN false;
END;
$end_plan$;
COMMENT ON FUNCTION cs9.end_plan(bigint, integer, integer, text, bigint, text, integer) IS 'Ends a running plan as done or failed, and begins another one';
