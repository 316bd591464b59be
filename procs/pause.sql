-- Purpose: wait between two pieces of a publish. Whoever cancels the wait gets the task given back.
CREATE FUNCTION cs9.pause(p_task text, p_seconds double precision)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $pause$
#variable_conflict error
BEGIN
    PERFORM pg_sleep(p_seconds);
EXCEPTION
    WHEN query_canceled THEN
        PERFORM cs9.release_run(p_task);
        RAISE;
END;
$pause$;
COMMENT ON FUNCTION cs9.pause(text, double precision) IS 'Waits between two pieces of a publish';
