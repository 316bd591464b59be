-- Purpose: begin a plan. What an earlier taking of it staged is removed, its recorded deletes too.
-- Returns: true: run it. False: it is done and is run once only; only plan 1 and the last plan run in every attempt.
-- Contract: sets cs9.run_id, cs9.plan, cs9.attempt and cs9.taking for the session, so that the writes that follow pass the
--          fence, and takes cs9.op back: rows are inserts until the plan says otherwise.
--          Plan 1 comes before all others, the last plan after them.
-- Locks:   the rows of cs9.run (FOR SHARE) and cs9.plan.
-- Errors:  S9016 the transaction is not READ COMMITTED; S9024 a lock was not had;
--          those of cs9.assert_runner and cs9.open_plan.
CREATE FUNCTION cs9.begin_plan(p_run_id bigint, p_plan integer, p_attempt integer)
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $begin_plan$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.assert_read_committed();
    RETURN cs9.open_plan(p_run_id, p_plan, p_attempt, cs9.assert_runner(p_run_id, p_attempt));
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.begin_plan');
        RETURN NULL;
END;
$begin_plan$;
COMMENT ON FUNCTION cs9.begin_plan(bigint, integer, integer) IS 'Begins a plan and clears what an earlier taking staged for it; false: it is done, skip it';
