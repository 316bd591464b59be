-- Purpose: is what a task's row says of its owner still true?
-- Returns: true: its session owns the task. False: nobody does. Null: not known at this moment; ask again.
-- How:     A session owns the task while it holds the advisory lock whose number is in the row. No other session's lock
--          counts, nor one whose number a rollback took out of the row.
--          A CALL writes its transaction into the row in each piece, and begins the next transaction with the COMMIT
--          of that one. While it lives it is in one of the two; an error ends it, so that whatever its session
--          does next has a higher number. Between the two, for a moment, no transaction is seen: a session that is
--          idle then is no CALL, one whose state is hidden from the asker may be.
CREATE FUNCTION cs9.owner_alive(p_task cs9.task)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog, pg_temp
AS $owner_alive$
#variable_conflict error
DECLARE
    v_now  text;
    v_idle boolean;
BEGIN
    IF p_task.owner_pid IS NULL OR p_task.server_start <> pg_postmaster_start_time() THEN
        RETURN false;
    END IF;
    IF p_task.claim IS NOT NULL THEN
        RETURN EXISTS (
            SELECT
            FROM pg_catalog.pg_locks AS l
            JOIN pg_catalog.pg_database AS d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND l.granted AND l.pid = p_task.owner_pid
              AND l.classid = cs9.lock_class()::oid AND l.objid = p_task.claim::oid AND l.objsubid = 2
              AND d.datname = current_database()
        );
    END IF;

    SELECT l.virtualxid INTO v_now
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'virtualxid' AND l.pid = p_task.owner_pid AND l.mode = 'ExclusiveLock' AND l.granted;
    IF FOUND THEN
        RETURN split_part(v_now, '/', 1) = split_part(p_task.publisher, '/', 1)
           AND split_part(v_now, '/', 2)::bigint - split_part(p_task.publisher, '/', 2)::bigint IN (0, 1);
    END IF;
    PERFORM pg_stat_clear_snapshot();
    SELECT a.state <> 'active' INTO v_idle FROM pg_stat_get_activity(p_task.owner_pid) AS a;
    IF NOT FOUND OR v_idle THEN
        RETURN false;
    END IF;
    RETURN NULL;
END;
$owner_alive$;
COMMENT ON FUNCTION cs9.owner_alive(cs9.task) IS 'Whether the owner that a task''s row names is there; null: not known at this moment';
