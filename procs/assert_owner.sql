-- Purpose: what ends a run is for the session that owns its task alone.
-- Errors:  S9019.
CREATE FUNCTION cs9.assert_owner(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_owner$
#variable_conflict error
DECLARE
    v_task_id integer := (SELECT r.task_id FROM cs9.run AS r WHERE r.run_id = p_run_id);
BEGIN
    IF NOT cs9.owns_task(v_task_id) THEN
        RAISE EXCEPTION 'this session does not own run %', p_run_id
            USING ERRCODE = 'S9019',
                  DETAIL = format('Its process is %s; the owner is %s.', pg_backend_pid(),
                                  coalesce(cs9.task_owner(v_task_id)::text, 'none')),
                  HINT = 'Call it in the session that called cs9.begin_run, not through a pool that changes sessions; or begin a new attempt.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
END;
$assert_owner$;
COMMENT ON FUNCTION cs9.assert_owner(bigint) IS 'Fails unless this session owns the task of the run';
