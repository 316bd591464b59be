-- Purpose: how many rows a plan has staged, in all tables of the run. It reads all staged rows.
-- Errors:  S9018 what the run staged is gone.
CREATE FUNCTION cs9.count_staged(p_run_id bigint, p_plan integer)
RETURNS bigint
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
SET constraint_exclusion = off   -- to plan by a check of the user's would be to evaluate it, under this search_path
AS $count_staged$
#variable_conflict error
DECLARE
    v_rows   bigint := 0;
    v_count  bigint;
    v_staged text;
BEGIN
    PERFORM cs9.assert_staged(p_run_id);
    FOR v_staged IN
        SELECT cs9.staged_label(t.run_id, t.table_id)
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.staged_name IS NOT NULL
    LOOP
        EXECUTE format('SELECT count(*) FROM %s WHERE cs9_plan = $1', v_staged) INTO v_count USING p_plan;
        v_rows := v_rows + v_count;
    END LOOP;
    RETURN v_rows;
END;
$count_staged$;
COMMENT ON FUNCTION cs9.count_staged(bigint, integer) IS 'Rows that a plan has staged';
