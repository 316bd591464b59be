-- Purpose: begin a plan of the live attempt. What an earlier taking staged for it is removed, its recorded deletes too.
-- Returns: true: run it. False: it is done and is run once only; only plan 1 and the last plan run in every attempt.
-- Contract: the caller has asked cs9.assert_runner, which said how many plans the run has (p_plans). Sets the session's
--          settings to the plan, so that the writes that follow pass the fence; leaves them alone when it is not run.
--          Plan 1 comes before all others, the last plan after them. A plan that is running can be taken when its
--          session has gone; each taking has a number, and shuts the earlier ones out.
-- Locks:   the row of cs9.plan; the run's own tables, ROW EXCLUSIVE, where there is something to remove.
-- Errors:  S9001 a write of an earlier taking is still in flight; S9003 out of order; S9007 the plan is running already;
--          S9016 no such plan; S9024 what was staged is locked.
CREATE FUNCTION cs9.open_plan(p_run_id bigint, p_plan integer, p_attempt integer, p_plans integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $open_plan$
#variable_conflict error
DECLARE
    v_plan cs9.plan := cs9.lock_plan(p_run_id, p_plan);
    v_wait integer;
BEGIN
    IF v_plan.plan IS NULL THEN
        RAISE EXCEPTION 'run % has no plan %', p_run_id, p_plan
            USING ERRCODE = 'S9016',
                  DETAIL = format('Its plans are 1 to %s.', p_plans),
                  HINT = 'SELECT * FROM cs9.plan_status shows the plans of a run.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;

    IF v_plan.state = 'done' AND (v_plan.attempt = p_attempt OR p_plan NOT IN (1, p_plans)) THEN
        RETURN false;
    END IF;
    IF v_plan.state = 'running' AND v_plan.attempt = p_attempt AND cs9.taker_alive(v_plan) THEN
        RAISE EXCEPTION 'plan % of run % is running already', p_plan, p_run_id
            USING ERRCODE = 'S9007',
                  DETAIL = format('Attempt %s began it at %s, in process %s, which is alive.', v_plan.attempt, v_plan.began_at, v_plan.pid),
                  HINT = 'End it with cs9.finish_plan or cs9.fail_plan before it begins again.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;

    v_wait := cs9.unfinished_plan(p_run_id, p_attempt, p_plan);
    IF v_wait IS NOT NULL THEN
        RAISE EXCEPTION 'plan % of run % must wait for plan %', p_plan, p_run_id, v_wait
            USING ERRCODE = 'S9003',
                  DETAIL = 'Plan 1 runs before all others, and the last plan after them.',
                  HINT = format('Finish plan %s first.', v_wait),
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;

    UPDATE cs9.plan AS p
    SET state = 'running', attempt = p_attempt, taking = v_plan.taking + 1, pid = pg_backend_pid(), rows_staged = NULL, error = NULL,
        began_at = clock_timestamp(), finished_at = NULL
    WHERE p.run_id = p_run_id AND p.plan = p_plan;
    PERFORM cs9.write_for(p_run_id::text, p_plan::text, p_attempt::text, (v_plan.taking + 1)::text);
    IF v_plan.attempt IS NOT NULL THEN
        PERFORM cs9.clear_plan(p_run_id, p_plan);
    END IF;
    RETURN true;
END;
$open_plan$;
COMMENT ON FUNCTION cs9.open_plan(bigint, integer, integer, integer) IS 'Begins a plan of the live attempt, or says that it is done';
