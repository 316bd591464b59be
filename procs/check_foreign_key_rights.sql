-- Purpose: PostgreSQL looks after a foreign key with the rights of the owners of its two tables, which may have been taken from them.
-- How:     a row that is written is looked for in the referenced table, and locked there; before a referenced row goes or changes the
--          other table is asked, by whatever the key does then.
-- Errors:  S9013 names the key, the owner and what it lacks.
CREATE FUNCTION cs9.check_foreign_key_rights(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_foreign_key_rights$
#variable_conflict error
DECLARE
    v_writes  CONSTANT boolean := cs9.staged_label(p_run_id, p_table_id) IS NOT NULL;
    v_deletes CONSTANT boolean := cs9.run_deletes(p_run_id, p_table_id) <> 'false';
    v_missing record;
BEGIN
    SELECT k.key_name, r.relowner::regrole AS owner, n.relation, p.privilege INTO v_missing
    FROM cs9.foreign_keys(p_table_id) AS k
    JOIN pg_catalog.pg_constraint AS f ON f.oid = k.key_id
    CROSS JOIN LATERAL (SELECT cs9.changed_references(p_run_id, p_table_id, k.key_id) <> 'false' AS changes) AS c
    CROSS JOIN LATERAL (
        SELECT k.referenced AS relation, f.confkey AS columns, 'UPDATE' AS change
        WHERE k.goes_out AND v_writes OR k.comes_in AND (v_deletes OR c.changes)
        UNION ALL
        SELECT k.referencing, f.conkey, CASE f.confdeltype WHEN 'c' THEN 'DELETE' ELSE 'UPDATE' END WHERE k.comes_in AND v_deletes
        UNION ALL
        SELECT k.referencing, f.conkey, 'UPDATE' WHERE k.comes_in AND c.changes
    ) AS n
    JOIN pg_catalog.pg_class AS r ON r.oid = n.relation
    CROSS JOIN LATERAL (
        SELECT format('USAGE on schema %s', r.relnamespace::regnamespace) AS privilege
        WHERE NOT has_schema_privilege(r.relowner, r.relnamespace, 'USAGE')
        UNION ALL
        SELECT format('SELECT on %s', n.relation)
        WHERE EXISTS (SELECT FROM unnest(n.columns) AS a (attnum) WHERE NOT has_column_privilege(r.relowner, r.oid, a.attnum, 'SELECT'))
        UNION ALL
        SELECT format('%s on %s', n.change, n.relation)
        WHERE NOT CASE n.change WHEN 'DELETE' THEN has_table_privilege(r.relowner, r.oid, 'DELETE') ELSE has_any_column_privilege(r.relowner, r.oid, 'UPDATE') END
    ) AS p
    WHERE k.enforced
    ORDER BY k.key_name, k.key_id, n.relation, p.privilege
    LIMIT 1;
    IF FOUND THEN
        PERFORM cs9.cannot_finish(p_table_id, format('role %s lacks %s', v_missing.owner, v_missing.privilege),
            format('PostgreSQL looks after the foreign key %I with the rights of those who own its tables; this role owns %s.', v_missing.key_name, v_missing.relation),
            'Grant it to that role.');
    END IF;
END;
$check_foreign_key_rights$;
COMMENT ON FUNCTION cs9.check_foreign_key_rights(bigint, integer) IS 'Refuses a foreign key for which the owner of a table lacks a privilege';
