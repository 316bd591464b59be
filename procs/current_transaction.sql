-- Purpose: the virtual transaction id of this transaction: the number of the session's slot, a slash, and a number that
--          is greater by one in each transaction of the session.
CREATE FUNCTION cs9.current_transaction()
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $current_transaction$
#variable_conflict error
BEGIN
    RETURN (
        SELECT l.virtualxid
        FROM pg_catalog.pg_locks AS l
        WHERE l.locktype = 'virtualxid' AND l.pid = pg_backend_pid() AND l.mode = 'ExclusiveLock' AND l.granted
    );
END;
$current_transaction$;
COMMENT ON FUNCTION cs9.current_transaction() IS 'Virtual transaction id of this transaction';
