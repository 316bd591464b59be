-- Purpose: say in the session's settings which plan its writes are for, empty for none; rows are inserts until the plan
--          says otherwise.
CREATE FUNCTION cs9.write_for(p_run_id text, p_plan text, p_attempt text, p_taking text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $write_for$
#variable_conflict error
BEGIN
    PERFORM set_config('cs9.run_id', p_run_id, false),
            set_config('cs9.plan', p_plan, false),
            set_config('cs9.attempt', p_attempt, false),
            set_config('cs9.taking', p_taking, false),
            set_config('cs9.op', '', false);
END;
$write_for$;
COMMENT ON FUNCTION cs9.write_for(text, text, text, text) IS 'Sets which plan the session writes for';
