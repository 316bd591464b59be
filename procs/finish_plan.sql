-- Purpose: a plan has done all its writes. They stay staged; a later attempt does not run the plan again, unless it
--          is plan 1 or the last.
-- Contract: p_rows is how many rows the plan staged, for the views; null counts them, which reads all staged rows.
-- Errors:  S9024 a lock was not had; those of cs9.end_plan.
CREATE FUNCTION cs9.finish_plan(p_run_id bigint, p_plan integer, p_attempt integer, p_rows bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $finish_plan$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.end_plan(p_run_id, p_plan, p_attempt, 'done', coalesce(p_rows, cs9.count_staged(p_run_id, p_plan)), NULL, NULL);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.finish_plan');
END;
$finish_plan$;
COMMENT ON FUNCTION cs9.finish_plan(bigint, integer, integer, bigint) IS 'Ends a plan as done; what it staged is kept';
