-- Purpose: called by the migration that takes an adopted table out of the register, before it does: take back what
--          cs9.grant_adopted granted.
CREATE FUNCTION cs9.release_adopted(p_schema name, p_table name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $release_adopted$
#variable_conflict error
DECLARE
    v_table CONSTANT regclass := to_regclass(format('%I.%I', p_schema, p_table));
    v_grant record;
BEGIN
    IF v_table IS NULL THEN
        RETURN;  -- dropped by hand, and the grants with it
    END IF;
    FOR v_grant IN
        SELECT g.value ->> 'role' AS role,
               CASE WHEN g.value ->> 'sequence' IS NOT NULL THEN format('USAGE ON SEQUENCE %s', g.value ->> 'sequence')
                    WHEN g.value ->> 'column' IS NULL THEN format('SELECT ON TABLE %s', v_table)
                    ELSE format('USAGE ON SEQUENCE %s', pg_get_serial_sequence(v_table::text, a.attname)) END AS what
        FROM cs9.table_definition AS d
        CROSS JOIN LATERAL jsonb_array_elements(d.adopted_grants) AS g (value)
        JOIN pg_catalog.pg_roles AS r ON r.rolname = g.value ->> 'role'
        LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = v_table AND a.attname = g.value ->> 'column' AND a.attidentity <> ''
        WHERE d.schema_name = p_schema AND d.table_name = p_table
          AND (g.value ->> 'column' IS NULL OR a.attname IS NOT NULL)
          AND (g.value ->> 'sequence' IS NULL OR to_regclass(g.value ->> 'sequence') IS NOT NULL)
    LOOP
        EXECUTE format('REVOKE %s FROM %I', v_grant.what, v_grant.role);
    END LOOP;
END;
$release_adopted$;
COMMENT ON FUNCTION cs9.release_adopted(name, name) IS 'Takes back what an adoption granted on a table';
