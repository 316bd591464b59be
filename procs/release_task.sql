-- Purpose: release the lock of a task in this session, however often it was taken; that of another session stays.
CREATE FUNCTION cs9.release_task(p_task_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $release_task$
#variable_conflict error
BEGIN
    WHILE p_task_id IS NOT NULL AND cs9.owns_task(p_task_id) LOOP
        PERFORM pg_advisory_unlock(cs9.lock_class(), p_task_id);
    END LOOP;
END;
$release_task$;
COMMENT ON FUNCTION cs9.release_task(integer) IS 'Releases the session-level lock of a task, by its id';
