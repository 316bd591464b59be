-- Purpose: trigger of each run's own tables: every statement that writes passes the fence first. One check a
--          statement, none a row, so that COPY keeps its speed.
-- Errors:  those of cs9.assert_live_plan.
CREATE FUNCTION cs9.guard_staged()
RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_staged$
#variable_conflict error
BEGIN
    PERFORM cs9.assert_live_plan(TG_ARGV[0]::bigint);
    RETURN NULL;
END;
$guard_staged$;
COMMENT ON FUNCTION cs9.guard_staged() IS 'Trigger: refuses a write to a run''s own table that is not the live attempt''s';
