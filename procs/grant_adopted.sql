-- Purpose: called by the migration that adopts a table: let a role read it, or draw from the sequence of one of its identity
--          columns, or from one (p_sequence) that a default draws from. What the role could do before is left alone; what
--          it could not is noted, for cs9.release_adopted.
CREATE FUNCTION cs9.grant_adopted(p_schema name, p_table name, p_role name, p_column name DEFAULT NULL, p_sequence text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $grant_adopted$
#variable_conflict error
DECLARE
    v_table     CONSTANT regclass := format('%I.%I', p_schema, p_table)::regclass;
    v_object    CONSTANT regclass := CASE WHEN p_sequence IS NOT NULL THEN p_sequence::regclass
                                          WHEN p_column IS NULL THEN v_table
                                          ELSE pg_get_serial_sequence(v_table::text, p_column)::regclass END;
    v_kind      CONSTANT text := CASE WHEN p_column IS NULL AND p_sequence IS NULL THEN 'TABLE' ELSE 'SEQUENCE' END;
    v_privilege CONSTANT text := CASE v_kind WHEN 'TABLE' THEN 'SELECT' ELSE 'USAGE' END;
BEGIN
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault(CASE WHEN c.relkind = 'S' THEN 's' ELSE 'r' END::"char", c.relowner))) AS x
        WHERE c.oid = v_object AND x.grantee = quote_ident(p_role)::regrole AND x.privilege_type = v_privilege
    ) THEN
        RETURN;
    END IF;
    EXECUTE format('GRANT %s ON %s %s TO %I', v_privilege, v_kind, v_object, p_role);
    UPDATE cs9.table_definition AS d
    SET adopted_grants = d.adopted_grants || (jsonb_build_object('role', p_role, 'column', p_column)
                                            || CASE WHEN p_sequence IS NULL THEN '{}' ELSE jsonb_build_object('sequence', v_object::text) END)
    WHERE d.schema_name = p_schema AND d.table_name = p_table;
END;
$grant_adopted$;
COMMENT ON FUNCTION cs9.grant_adopted(name, name, name, name, text) IS 'Lets a role read an adopted table, and notes that it could not before';
