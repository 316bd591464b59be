-- Purpose: give a task back that this session owns; that of another session stays.
CREATE FUNCTION cs9.release_task(p_task_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $release_task$
#variable_conflict error
BEGIN
    UPDATE cs9.task AS t
    SET owner_pid = NULL, claim = NULL, publisher = NULL, server_start = NULL
    WHERE t.task_id = p_task_id AND t.owner_pid = pg_backend_pid();
    PERFORM cs9.drop_claims();
END;
$release_task$;
COMMENT ON FUNCTION cs9.release_task(integer) IS 'Gives a task back that this session owns, by its id';
