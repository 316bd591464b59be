-- Purpose: the grants of a partition, on it and on its columns, and its owner, for its successor.
CREATE FUNCTION cs9.copy_partition_rights(p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $copy_partition_rights$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        SELECT r.command
        FROM (
            SELECT 1 AS n, format('REVOKE ALL ON TABLE %s FROM %s', p_staged, g.grantee) AS command
            FROM cs9.grants_of(p_staged) AS g
            UNION
            SELECT 2, format('GRANT %s%s ON TABLE %s TO %s%s', g.privilege, '(' || quote_ident(g.column_name) || ')', p_staged, g.grantee,
                             CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
            FROM cs9.grants_of(p_leaf) AS g
            UNION ALL
            SELECT 3, format('ALTER TABLE %s OWNER TO %I', p_staged, pg_get_userbyid(l.relowner))
            FROM pg_catalog.pg_class AS l
            JOIN pg_catalog.pg_class AS s ON s.oid = p_staged
            WHERE l.oid = p_leaf AND l.relowner <> s.relowner
        ) AS r
        ORDER BY r.n
    LOOP
        EXECUTE v_command;
    END LOOP;
END;
$copy_partition_rights$;
COMMENT ON FUNCTION cs9.copy_partition_rights(regclass, regclass) IS 'Copies the grants and the owner of a partition';
