-- Purpose: let go of the claims of this session that no task's row names any more: what a rollback left.
CREATE FUNCTION cs9.drop_claims()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $drop_claims$
#variable_conflict error
BEGIN
    PERFORM pg_advisory_unlock(cs9.lock_class(), l.objid::bigint::integer)
    FROM pg_catalog.pg_locks AS l
    JOIN pg_catalog.pg_database AS d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND l.granted AND l.pid = pg_backend_pid()
      AND l.classid = cs9.lock_class()::oid AND l.objsubid = 2
      AND d.datname = current_database()
      AND NOT EXISTS (
          SELECT FROM cs9.task AS t WHERE t.owner_pid = pg_backend_pid() AND t.claim = l.objid::bigint);
END;
$drop_claims$;
COMMENT ON FUNCTION cs9.drop_claims() IS 'Releases the advisory locks of this session that are no claim any more';
