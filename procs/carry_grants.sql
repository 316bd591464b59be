-- Purpose: move every grant on a table or sequence, and on its columns, to the one that replaces it.
-- Contract: p_old keeps none. Grants are made anew, by the role that migrates.
CREATE FUNCTION cs9.carry_grants(p_old regclass, p_new regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $carry_grants$
#variable_conflict error
DECLARE
    v_kind  CONSTANT text := (SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END FROM pg_catalog.pg_class AS c WHERE c.oid = p_old);
    v_grant record;
BEGIN
    FOR v_grant IN
        SELECT g.grantee, g.is_grantable, concat(g.privilege, ' (' || quote_ident(g.column_name) || ')') AS privilege
        FROM cs9.grants_of(p_old) AS g
    LOOP
        EXECUTE format('GRANT %s ON %s %s TO %s%s', v_grant.privilege, v_kind, p_new, v_grant.grantee,
                       CASE WHEN v_grant.is_grantable THEN ' WITH GRANT OPTION' END);
        EXECUTE format('REVOKE %s ON %s %s FROM %s CASCADE', v_grant.privilege, v_kind, p_old, v_grant.grantee);
    END LOOP;
END;
$carry_grants$;
COMMENT ON FUNCTION cs9.carry_grants(regclass, regclass) IS 'Moves all grants on a relation to the one that replaces it';
