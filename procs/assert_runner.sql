-- Purpose: who may begin and end plans: the live attempt of a running run, by a login that may run all its tables.
-- Returns: how many plans the run has.
-- Contract: called by routines that act with the rights of their owner. Its members may all that they can do, so that
--          the tables are looked at for other logins only.
-- Locks:   the row of cs9.run, FOR SHARE to the end of the transaction.
-- Errors:  those of cs9.assert_live_attempt and cs9.assert_role.
CREATE FUNCTION cs9.assert_runner(p_run_id bigint, p_attempt integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $assert_runner$
#variable_conflict error
DECLARE
    v_plans integer := cs9.assert_live_attempt(p_run_id, p_attempt);
BEGIN
    IF NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        PERFORM cs9.assert_role(cs9.run_tables(p_run_id), 'runner');
    END IF;
    RETURN v_plans;
END;
$assert_runner$;
COMMENT ON FUNCTION cs9.assert_runner(bigint, integer) IS 'Fails unless the attempt is the live one, and the login may run its tables';
