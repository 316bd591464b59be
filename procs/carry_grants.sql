-- Purpose: move every grant on a relation, and on its columns, to the one that replaces it.
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
        SELECT x.privilege_type || coalesce(' (' || quote_ident(g.attname) || ')', '') AS privilege, x.is_grantable,
               CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END AS grantee
        FROM (
            SELECT NULL::name AS attname, c.relacl AS acl, c.relowner AS owner
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_old
            UNION ALL
            SELECT a.attname, a.attacl, 0
            FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid = p_old AND a.attnum > 0 AND NOT a.attisdropped
        ) AS g
        CROSS JOIN LATERAL aclexplode(g.acl) AS x
        WHERE x.grantee <> g.owner
        ORDER BY g.attname, x.grantee, x.privilege_type
    LOOP
        EXECUTE format('GRANT %s ON %s %s TO %s%s', v_grant.privilege, v_kind, p_new, v_grant.grantee,
                       CASE WHEN v_grant.is_grantable THEN ' WITH GRANT OPTION' END);
        EXECUTE format('REVOKE %s ON %s %s FROM %s CASCADE', v_grant.privilege, v_kind, p_old, v_grant.grantee);
    END LOOP;
END;
$carry_grants$;
COMMENT ON FUNCTION cs9.carry_grants(regclass, regclass) IS 'Moves all grants on a relation to the one that replaces it';
