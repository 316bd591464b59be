-- Purpose: called by migrations: let a role use the part of the cs9 schema that a runner or a publisher needs, and no
--          more. What it may do to which table is asked by cs9.assert_role.
-- Contract: p_kind is 'runner' or 'publisher'.
CREATE FUNCTION cs9.grant_role(p_role name, p_kind text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $grant_role$
#variable_conflict error
DECLARE
    v_both      CONSTANT text[] := ARRAY['claim_run', 'release_run', 'end_attempt', 'may_publish', 'find_table', 'table_label', 'owns_task', 'task_owner'];
    v_runner    CONSTANT text[] := ARRAY['begin_run', 'begin_plan', 'finish_plan', 'next_plan', 'fail_plan', 'staging_table', 'staged_label', 'table_path',
                                         'drop_all_rows', 'drop_rows_where', 'keep_rows_where', 'finish_run', 'discard_run'];
    v_publisher CONSTANT text[] := ARRAY['publish', 'publish_table', 'must_be_called_outside_a_transaction', 'claim_publish', 'begin_publish', 'publish_next',
                                         'join_publish', 'join_next', 'set_publish_mode'];
    v_routine   regprocedure;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA cs9 TO %I', p_role);
    EXECUTE format('GRANT SELECT ON cs9.schema_version, cs9.table_definition, cs9.task, cs9.run_status, cs9.plan_status, cs9.publish_progress TO %I', p_role);
    IF p_kind = 'runner' THEN
        EXECUTE format('GRANT USAGE ON SCHEMA cs9_staging TO %I', p_role);
    END IF;
    FOR v_routine IN
        SELECT p.oid::regprocedure
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace = 'cs9'::regnamespace
          AND p.proname = ANY (v_both || CASE p_kind WHEN 'runner' THEN v_runner ELSE v_publisher END)
        ORDER BY p.proname
    LOOP
        EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %I', v_routine, p_role);
    END LOOP;
END;
$grant_role$;
COMMENT ON FUNCTION cs9.grant_role(name, text) IS 'Lets a role use the part of the cs9 schema that a runner or a publisher needs';
