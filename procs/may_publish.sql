-- Purpose: may this login publish the run? A program with the runner role alone stages and proves a run, and leaves it
--          ready for another to publish.
-- Errors:  S9002 unknown run.
CREATE FUNCTION cs9.may_publish(p_task text, p_run_key text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $may_publish$
#variable_conflict error
DECLARE
    v_run cs9.run := cs9.find_run(p_task, p_run_key);
BEGIN
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'publisher');
    RETURN true;
EXCEPTION
    WHEN insufficient_privilege THEN
        RETURN false;
END;
$may_publish$;
COMMENT ON FUNCTION cs9.may_publish(text, text) IS 'Whether the login may publish a run';
