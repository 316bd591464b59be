-- Purpose: refuse what is no plan list.
-- Errors:  S9016 unless it is a JSON array with one element a plan, and at least one.
CREATE FUNCTION cs9.check_plans(p_plans jsonb)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check_plans$
#variable_conflict error
BEGIN
    IF jsonb_typeof(p_plans) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'the plan list is no JSON array'
            USING ERRCODE = 'S9016',
                  DETAIL = format('It is %s.', coalesce(jsonb_typeof(p_plans), 'null')),
                  HINT = 'Pass an array with one element a plan, for example [{"week": 1}, {"week": 2}].',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
    IF jsonb_array_length(p_plans) = 0 THEN
        RAISE EXCEPTION 'the task has no plans'
            USING ERRCODE = 'S9016',
                  DETAIL = 'The plan list is an empty array, so that nothing would be written and nothing published.',
                  HINT = 'Let the planner give one plan at least.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
END;
$check_plans$;
COMMENT ON FUNCTION cs9.check_plans(jsonb) IS 'Refuses a plan list that is no array or is empty';
