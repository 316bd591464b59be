-- Purpose: refuse a session whose settings would make a publish something else than its statements: with
--          session_replication_role = replica no trigger fires and no foreign key is checked.
-- Errors:  S9016.
CREATE FUNCTION cs9.check_settings()
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $check_settings$
#variable_conflict error
BEGIN
    IF current_setting('session_replication_role') = 'replica' THEN
        RAISE EXCEPTION 'this session publishes nothing: its session_replication_role is replica'
            USING ERRCODE = 'S9016',
                  DETAIL = 'No trigger would fire, and no foreign key would be checked.',
                  HINT = 'RESET session_replication_role, or ALTER ROLE … RESET session_replication_role, and call again.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
END;
$check_settings$;
COMMENT ON FUNCTION cs9.check_settings() IS 'Refuses a session whose settings would change what a publish does';
