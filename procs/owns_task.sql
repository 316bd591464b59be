-- Purpose: does this very session own the task? Asked before each step of a publish, because behind a
-- transaction-pooling proxy the claim may be that of another session.
CREATE FUNCTION cs9.owns_task(p_task_id integer)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $owns_task$
#variable_conflict error
BEGIN
    RETURN coalesce(cs9.task_owner(p_task_id) = pg_backend_pid(), false);
END;
$owns_task$;
COMMENT ON FUNCTION cs9.owns_task(integer) IS 'Whether this session owns the task';
