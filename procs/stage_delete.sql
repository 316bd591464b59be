-- Purpose: record a delete for the plan of this session's settings. The publish applies it before it moves a row,
--          so that within one plan deletes come before writes, whatever their order in the code.
-- Errors:  S9009 not a table of the run; S9010 unknown table; S9015 no condition; those of cs9.assert_live_plan.
CREATE FUNCTION cs9.stage_delete(p_table text, p_kind text, p_condition text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $stage_delete$
#variable_conflict error
DECLARE
    v_table_id integer := cs9.find_table(p_table);
    v_plan     integer := cs9.assert_live_plan(NULL);
    v_run_id   bigint  := cs9.setting('run_id', NULL)::bigint;
    v_fixed    text;
BEGIN
    PERFORM cs9.assert_run_table(v_run_id, v_table_id);
    PERFORM cs9.assert_role(ARRAY[v_table_id], 'runner');
    IF p_kind <> 'all' THEN
        v_fixed := cs9.fix_condition(v_table_id, p_condition);
    END IF;
    INSERT INTO cs9.staged_delete (run_id, table_id, plan, kind, condition)
    VALUES (v_run_id, v_table_id, v_plan, p_kind, v_fixed);
END;
$stage_delete$;
COMMENT ON FUNCTION cs9.stage_delete(text, text, text) IS 'Records a delete for the plan of this session''s settings';
