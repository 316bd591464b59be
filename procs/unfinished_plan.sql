-- Purpose: the order of plans. Plan 1 comes before all others, the last plan after them, and both in each attempt.
-- Returns: the first plan that p_plan must wait for (null p_plan: that the end of the run must wait for); null: none.
-- Contract: reads all plans of the run for the last plan and the end of the run alone; any other plan waits for plan 1.
CREATE FUNCTION cs9.unfinished_plan(p_run_id bigint, p_attempt integer, p_plan integer)
RETURNS integer
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $unfinished_plan$
#variable_conflict error
DECLARE
    v_plans integer;
BEGIN
    IF p_plan = 1 THEN
        RETURN NULL;
    END IF;
    SELECT r.plans INTO v_plans FROM cs9.run AS r WHERE r.run_id = p_run_id;
    IF p_plan < v_plans THEN
        RETURN (
            SELECT p.plan
            FROM cs9.plan AS p
            WHERE p.run_id = p_run_id AND p.plan = 1 AND NOT (p.state = 'done' AND p.attempt = p_attempt)
        );
    END IF;
    RETURN (
        SELECT min(p.plan)
        FROM cs9.plan AS p
        WHERE p.run_id = p_run_id
          AND NOT (p.state = 'done' AND (p.attempt = p_attempt OR p.plan NOT IN (1, v_plans)))
          AND (p_plan IS NULL OR p.plan < v_plans)
    );
END;
$unfinished_plan$;
COMMENT ON FUNCTION cs9.unfinished_plan(bigint, integer, integer) IS 'First plan that a plan, or the end of the run, has to wait for';
