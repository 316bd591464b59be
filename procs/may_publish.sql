-- Purpose: may this login publish the run? A program with the runner role alone stages and proves a run, and leaves it
--          ready for another to publish.
-- Errors:  S9002 unknown run; S9024 a lock was not had.
CREATE FUNCTION cs9.may_publish(p_task text, p_run_key text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $may_publish$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    PERFORM cs9.bound_lock_wait();
    v_run := cs9.find_run(p_task, p_run_key);
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'publisher');
    RETURN true;
EXCEPTION
    WHEN insufficient_privilege THEN
        RETURN false;
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.may_publish');
        RETURN NULL;
END;
$may_publish$;
COMMENT ON FUNCTION cs9.may_publish(text, text) IS 'Whether the login may publish a run';
