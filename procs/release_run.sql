-- Purpose: give the ownership of a task back. Does nothing in a session that does not own it.
CREATE FUNCTION cs9.release_run(p_task text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $release_run$
#variable_conflict error
DECLARE
    v_task_id integer := (SELECT t.task_id FROM cs9.task AS t WHERE t.task = p_task);
BEGIN
    WHILE v_task_id IS NOT NULL AND cs9.owns_task(v_task_id) LOOP
        PERFORM pg_advisory_unlock(cs9.lock_class(), v_task_id);
    END LOOP;
END;
$release_run$;
COMMENT ON FUNCTION cs9.release_run(text) IS 'Releases the session-level lock of a task';
