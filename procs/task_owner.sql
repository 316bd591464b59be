-- Purpose: which session owns a task now.
-- Returns: the process id of the session that holds the task's advisory lock; null when none does.
CREATE FUNCTION cs9.task_owner(p_task_id integer)
RETURNS integer
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $task_owner$
#variable_conflict error
BEGIN
    RETURN (
        SELECT l.pid
        FROM pg_catalog.pg_locks AS l
        JOIN pg_catalog.pg_database AS d ON d.oid = l.database
        WHERE l.locktype = 'advisory'
          AND l.granted
          AND l.classid = cs9.lock_class()::oid
          AND l.objid = p_task_id::oid
          AND l.objsubid = 2
          AND d.datname = current_database()
        LIMIT 1
    );
END;
$task_owner$;
COMMENT ON FUNCTION cs9.task_owner(integer) IS 'Process id of the session that owns the task, or null';
