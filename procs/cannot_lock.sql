-- Purpose: say that a call did not get a lock in time.
-- Contract: called in the handler of lock_not_available of the routines that are called from outside.
-- Errors:  S9024, always.
CREATE FUNCTION cs9.cannot_lock(p_call text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $cannot_lock$
#variable_conflict error
BEGIN
    RAISE EXCEPTION '% did not get a lock that another session holds', p_call
        USING ERRCODE = 'S9024',
              DETAIL = format('After %s a try; %s.', cs9.setting('lock_timeout', '2s'), cs9.strongest_locks()),
              HINT = 'Call it again when the lock is gone; pg_terminate_backend ends a session that hangs.',
              SCHEMA = 'cs9', TABLE = '';
END;
$cannot_lock$;
COMMENT ON FUNCTION cs9.cannot_lock(text) IS 'Raises S9024: a call did not get a lock in time';
