-- Purpose: a plan may not delete rows that another plan of the run wrote. Plan 1 may delete anything, because it runs
--          before the others.
-- Errors:  S9012 names the table and the plans.
CREATE FUNCTION cs9.check_deletes(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_deletes$
#variable_conflict error
DECLARE
    v_staged text := cs9.staged_label(p_run_id, p_table_id);
    v_delete record;
    v_theirs text;
    v_found  boolean;
    v_other  integer;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_delete IN
        SELECT d.plan, d.kind, d.condition
        FROM cs9.staged_delete AS d
        WHERE d.run_id = p_run_id AND d.table_id = p_table_id AND d.plan > 1
        ORDER BY d.delete_id
    LOOP
        v_theirs := format('FROM %s WHERE cs9_plan <> $1 AND (%s)', v_staged, cs9.deleted_rows(v_delete.kind, v_delete.condition));
        EXECUTE format('SELECT EXISTS (SELECT %s)', v_theirs) INTO v_found USING v_delete.plan;
        IF v_found THEN
            EXECUTE format('SELECT cs9_plan %s LIMIT 1', v_theirs) INTO v_other USING v_delete.plan;
            RAISE EXCEPTION 'plan % deletes rows of % that plan % wrote', v_delete.plan, cs9.table_label(p_table_id), v_other
                USING ERRCODE = 'S9012',
                      DETAIL = CASE v_delete.kind
                          WHEN 'all' THEN 'It drops all rows.'
                          WHEN 'where' THEN format('It drops rows where %s.', v_delete.condition)
                          ELSE format('It keeps rows where %s.', v_delete.condition)
                      END,
                      HINT = 'Delete in plan 1, or only what no other plan writes; nothing was published.',
                      SCHEMA = (SELECT d.schema_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id),
                      TABLE = (SELECT d.table_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
        END IF;
    END LOOP;
END;
$check_deletes$;
COMMENT ON FUNCTION cs9.check_deletes(bigint, integer) IS 'Refuses a plan that deletes rows which another plan of the run wrote';
