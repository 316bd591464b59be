-- Purpose: called by migrations: make a role, without login, where it is missing. Nobody is put into it.
-- Errors:  42501 when the role that migrates may not create roles: create it beforehand.
CREATE FUNCTION cs9.ensure_role(p_role name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $ensure_role$
#variable_conflict error
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = p_role) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', p_role);
    END IF;
EXCEPTION
    -- another migration made it in between
    WHEN duplicate_object OR unique_violation THEN
        RETURN;
END;
$ensure_role$;
COMMENT ON FUNCTION cs9.ensure_role(name) IS 'Makes a role without login, where it is missing';
