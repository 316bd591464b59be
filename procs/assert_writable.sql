-- Purpose: say at once, and what to do, where nothing can be written: on a standby, and in a session or transaction that is
--          read-only.
-- Errors:  S9023.
CREATE FUNCTION cs9.assert_writable()
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_writable$
#variable_conflict error
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this server is a standby: a run can be looked at here, and neither staged nor published'
            USING ERRCODE = 'S9023',
                  DETAIL = 'A standby takes no writes until it is promoted.',
                  HINT = 'Connect to the primary: name all servers in the connection, with target_session_attrs=read-write (postgres://host1,host2/database?target_session_attrs=read-write).',
                  SCHEMA = 'cs9', TABLE = 'run';
    ELSIF current_setting('transaction_read_only')::boolean THEN
        RAISE EXCEPTION 'this session is read-only'
            USING ERRCODE = 'S9023',
                  DETAIL = format('transaction_read_only is on; default_transaction_read_only is %s.', current_setting('default_transaction_read_only')),
                  HINT = 'SET default_transaction_read_only = off, in the session or for the role that runs and publishes; or begin no READ ONLY transaction.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
END;
$assert_writable$;
COMMENT ON FUNCTION cs9.assert_writable() IS 'Fails with S9023 on a standby, and in a read-only transaction';
