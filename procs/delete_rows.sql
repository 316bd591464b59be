-- Purpose: delete live rows at once, outside any run, in the same way as a publish would.
-- Returns: how many rows went; TRUNCATE does not count, so null when it was used.
-- Errors:  S9010 unknown table; S9015 no condition; S9016 unknown kind; S9023 nothing can be written here.
CREATE FUNCTION cs9.delete_rows(p_table text, p_kind text, p_condition text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $delete_rows$
#variable_conflict error
DECLARE
    v_table_id integer := cs9.find_table(p_table);
    v_fixed    text;
    v_step     record;
    v_rows     bigint := 0::bigint;
BEGIN
    PERFORM cs9.assert_writable();
    IF p_kind IS NULL OR p_kind NOT IN ('all', 'where', 'keep') THEN
        RAISE EXCEPTION 'unknown kind of delete: %', coalesce(p_kind, '(null)')
            USING ERRCODE = 'S9016',
                  DETAIL = 'The kinds are all, where and keep.',
                  HINT = 'Pass one of them.',
                  SCHEMA = 'cs9', TABLE = 'staged_delete';
    END IF;
    IF p_kind <> 'all' THEN
        v_fixed := cs9.fix_condition(v_table_id, p_condition);
    END IF;
    FOR v_step IN SELECT s.* FROM cs9.delete_steps(v_table_id, p_kind, v_fixed) AS s LOOP
        v_rows := v_rows + cs9.run_delete_step(v_table_id, v_step.relation, v_step.condition);
    END LOOP;
    RETURN v_rows;
END;
$delete_rows$;
COMMENT ON FUNCTION cs9.delete_rows(text, text, text) IS 'Deletes live rows at once, outside any run';
