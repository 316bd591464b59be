-- Purpose: who may run and who may publish. The routines that stage and publish act with the rights of their owner, so
--          that they must ask: the session's login has to be a member of the role that the table's definition names, or
--          of the owner of the cs9 schema. session_user is asked, because current_user is the owner in here.
-- Contract: p_role is 'runner' or 'publisher'.
-- Errors:  42501 names the table and the role.
CREATE FUNCTION cs9.assert_role(p_table_ids integer[], p_role text)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_role$
#variable_conflict error
DECLARE
    v_table record;
BEGIN
    IF pg_has_role(session_user, (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = 'cs9.run'::regclass), 'MEMBER') THEN
        RETURN;
    END IF;
    SELECT d.schema_name, d.table_name, r.role_name INTO v_table
    FROM cs9.table_definition AS d
    CROSS JOIN LATERAL (SELECT CASE p_role WHEN 'runner' THEN d.runner_role ELSE d.publisher_role END AS role_name) AS r
    LEFT JOIN pg_catalog.pg_roles AS a ON a.rolname = r.role_name
    WHERE d.table_id = ANY (p_table_ids)
      AND NOT coalesce(pg_has_role(session_user, a.oid, 'MEMBER'), false)
    ORDER BY d.table_id
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'login % is no % of %.%', quote_ident(session_user), p_role,
                        quote_ident(v_table.schema_name), quote_ident(v_table.table_name)
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = CASE
                      WHEN v_table.role_name IS NULL THEN format('The table''s definition names no %s role.', p_role)
                      ELSE format('The %s role of the table is %I.', p_role, v_table.role_name)
                  END,
                  HINT = 'Grant the role to the login, or name one under roles: in the definition and generate.',
                  SCHEMA = v_table.schema_name, TABLE = v_table.table_name;
    END IF;
END;
$assert_role$;
COMMENT ON FUNCTION cs9.assert_role(integer[], text) IS 'Fails unless the login may run, or publish, every one of the tables';
