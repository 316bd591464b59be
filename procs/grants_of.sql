-- Purpose: who has been granted what on a table and on its columns, besides its owner.
-- Returns: grantee, as SQL writes it; column_name, null for the whole table.
CREATE FUNCTION cs9.grants_of(p_relation regclass)
RETURNS TABLE (grantee text, privilege text, column_name name, is_grantable boolean)
LANGUAGE plpgsql
STABLE
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $grants_of$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END, x.privilege_type, a.column_name, x.is_grantable
    FROM pg_catalog.pg_class AS c
    CROSS JOIN LATERAL (
        SELECT c.relacl AS acl, NULL::name AS column_name
        UNION ALL
        SELECT t.attacl, t.attname FROM pg_catalog.pg_attribute AS t WHERE t.attrelid = c.oid AND NOT t.attisdropped
    ) AS a
    CROSS JOIN LATERAL aclexplode(a.acl) AS x
    WHERE c.oid = p_relation AND x.grantee <> c.relowner;
END;
$grants_of$;
COMMENT ON FUNCTION cs9.grants_of(regclass) IS 'Who has been granted what on a table and on its columns';
