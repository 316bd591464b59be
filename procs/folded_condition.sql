-- Purpose: a condition as the planner simplifies it: a strict function of NULL is NULL.
CREATE FUNCTION cs9.folded_condition(p_rows text, p_printed text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $folded_condition$
#variable_conflict error
DECLARE
    v_plan jsonb;
BEGIN
    EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT (%s) FROM (%s) AS cs9_rows', p_printed, p_rows) INTO v_plan;
    RETURN v_plan #>> '{0,Plan,Output,0}';
END;
$folded_condition$;
COMMENT ON FUNCTION cs9.folded_condition(text, text) IS 'A condition as the planner simplifies it';
