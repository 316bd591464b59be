-- Purpose: whoever publishes must be allowed each step; rules and row-level security would change what a step does.
-- Errors:  S9013 names the privilege that is missing, or the rule.
CREATE FUNCTION cs9.check_privileges(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_privileges$
#variable_conflict error
DECLARE
    v_mode    CONSTANT text := cs9.publish_mode_of(p_run_id, p_table_id);
    v_live    regclass := to_regclass(cs9.table_label(p_table_id));
    v_missing text;
    v_rule    name;
BEGIN
    SELECT format('%s on %s', n.privilege, n.relation) INTO v_missing
    FROM (
        SELECT 'INSERT' AS privilege, v_live AS relation
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND t.rows_inserted + t.rows_upserted > 0
        UNION ALL
        SELECT u.privilege, v_live
        FROM cs9.run_table AS t
        CROSS JOIN (VALUES ('UPDATE'), ('SELECT')) AS u (privilege)
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND t.rows_upserted > 0
        UNION ALL
        SELECT CASE s.kind WHEN 'truncate' THEN 'TRUNCATE' ELSE p.privilege END, s.relation::regclass
        FROM cs9.run_delete_steps(p_run_id, p_table_id) AS s
        CROSS JOIN (VALUES ('DELETE'), ('SELECT')) AS p (privilege)
        WHERE v_mode = 'batched'
        UNION ALL
        SELECT p.privilege, v_live
        FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS p (privilege)
        WHERE v_mode = 'atomic'
    ) AS n
    WHERE NOT has_table_privilege(n.relation, n.privilege)
    LIMIT 1;
    IF v_missing IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, format('role %I lacks %s', current_user, v_missing),
            'The publish runs with the privileges of the role that calls it.',
            'Grant it, or publish as another role.');
    END IF;

    IF v_mode = 'atomic' AND NOT has_database_privilege(current_database(), 'TEMPORARY') THEN
        PERFORM cs9.cannot_finish(p_table_id, format('role %I lacks TEMPORARY on database %I', current_user, current_database()),
            'An atomic publish writes what differs into a temporary table.', 'Grant it, or publish the run batched.');
    END IF;

    IF row_security_active(v_live) THEN
        PERFORM cs9.cannot_finish(p_table_id, format('row-level security applies to role %I', current_user),
            'Policies could hide rows from its deletes and refuse rows that it inserts.',
            'Publish as the owner of the table, or as a role with BYPASSRLS.');
    END IF;

    SELECT w.rulename INTO v_rule
    FROM pg_catalog.pg_rewrite AS w
    WHERE w.ev_class = v_live AND w.ev_type <> '1' AND w.ev_enabled <> 'D'
    LIMIT 1;
    IF v_rule IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, format('it has the rule %I', v_rule),
            'A rule can turn a step into another statement.', 'Drop or disable the rule.');
    END IF;
END;
$check_privileges$;
COMMENT ON FUNCTION cs9.check_privileges(bigint, integer) IS 'Refuses a publish for which a privilege is missing, or that a rule or policy would change';
