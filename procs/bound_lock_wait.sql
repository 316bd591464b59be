-- Purpose: from here to the end of the transaction no lock is waited for longer than cs9.lock_timeout (2 s unless set).
-- A wait for an exclusive lock makes every later reader queue behind it, so it must be short.
CREATE FUNCTION cs9.bound_lock_wait()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $bound_lock_wait$
#variable_conflict error
BEGIN
    PERFORM set_config('lock_timeout', cs9.setting('lock_timeout', '2s'), true);
END;
$bound_lock_wait$;
COMMENT ON FUNCTION cs9.bound_lock_wait() IS 'Bounds lock waits of this transaction by cs9.lock_timeout';
