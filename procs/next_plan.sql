-- Purpose: finish a plan and begin another one, in one transaction: what cs9.finish_plan and then cs9.begin_plan do, for
--          half of what they cost, in a session that runs one plan after the other.
-- Returns: true: run p_next. False: it is done and is run once only; the session's settings name no plan then.
-- Contract: that of both. When it fails, neither is done: the plan is still running.
-- Locks:   the rows of cs9.run (FOR SHARE) and of both plans.
-- Errors:  S9024 a lock was not had; those of cs9.end_plan.
CREATE FUNCTION cs9.next_plan(p_run_id bigint, p_plan integer, p_attempt integer, p_rows bigint, p_next integer)
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $next_plan$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    RETURN cs9.end_plan(p_run_id, p_plan, p_attempt, 'done', coalesce(p_rows, cs9.count_staged(p_run_id, p_plan)), NULL, p_next);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.next_plan');
        RETURN NULL;
END;
$next_plan$;
COMMENT ON FUNCTION cs9.next_plan(bigint, integer, integer, bigint, integer) IS 'Finishes a plan and begins another one; false: that one is done, skip it';
