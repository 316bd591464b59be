-- Purpose: a plan failed. What it staged stays until it begins again, or the run is discarded; it is never published.
-- Errors:  S9024 a lock was not had; those of cs9.end_plan.
CREATE FUNCTION cs9.fail_plan(p_run_id bigint, p_plan integer, p_attempt integer, p_error text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $fail_plan$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.end_plan(p_run_id, p_plan, p_attempt, 'failed', NULL, coalesce(p_error, 'failed'), NULL);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.fail_plan');
END;
$fail_plan$;
COMMENT ON FUNCTION cs9.fail_plan(bigint, integer, integer, text) IS 'Ends a plan as failed';
