-- Purpose: the order of plans. Plan 1 comes before all others, the last plan after them, and both in each attempt.
-- Returns: the first plan that p_plan must wait for (null p_plan: that the end of the run must wait for); null: none.
CREATE FUNCTION cs9.unfinished_plan(p_run_id bigint, p_attempt integer, p_plan integer)
RETURNS integer
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $unfinished_plan$
#variable_conflict error
BEGIN
    RETURN (
        SELECT min(p.plan)
        FROM cs9.plan AS p
        JOIN cs9.run AS r ON r.run_id = p.run_id
        WHERE p.run_id = p_run_id
          AND NOT (p.state = 'done' AND (p.attempt = p_attempt OR p.plan NOT IN (1, r.plans)))
          AND CASE
                  WHEN p_plan IS NULL THEN true
                  WHEN p_plan = 1 THEN false
                  WHEN p_plan = r.plans THEN p.plan < r.plans
                  ELSE p.plan = 1
              END
    );
END;
$unfinished_plan$;
COMMENT ON FUNCTION cs9.unfinished_plan(bigint, integer, integer) IS 'First plan that a plan, or the end of the run, has to wait for';
