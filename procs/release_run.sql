-- Purpose: give the ownership of a task back. Does nothing in a session that does not own it.
-- Errors:  S9024 another session holds the task's row.
CREATE FUNCTION cs9.release_run(p_task text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $release_run$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.release_task((SELECT t.task_id FROM cs9.task AS t WHERE t.task = p_task));
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.release_run');
END;
$release_run$;
COMMENT ON FUNCTION cs9.release_run(text) IS 'Gives the ownership of a task back';
