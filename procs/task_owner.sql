-- Purpose: which session owns a task now, for people and messages: one look.
-- Returns: the process id of the session; null when none does.
CREATE FUNCTION cs9.task_owner(p_task_id integer)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $task_owner$
#variable_conflict error
BEGIN
    RETURN (SELECT t.owner_pid FROM cs9.task AS t WHERE t.task_id = p_task_id AND cs9.owner_alive(t));
END;
$task_owner$;
COMMENT ON FUNCTION cs9.task_owner(integer) IS 'Process id of the session that owns the task, or null';
