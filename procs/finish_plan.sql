-- Purpose: a plan has done all its writes. They stay staged; a later attempt does not run the plan again, unless it
--          is plan 1 or the last.
-- Contract: p_rows is how many rows the plan staged, for the views; null counts them, which reads all staged rows.
-- Errors:  S9013 after plan 1 of a run that is to be swapped and empties nothing; those of cs9.end_plan.
CREATE FUNCTION cs9.finish_plan(p_run_id bigint, p_plan integer, p_attempt integer, p_rows bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $finish_plan$
#variable_conflict error
DECLARE
    v_rows   bigint := p_rows;
    v_count  bigint;
    v_staged text;
BEGIN
    IF v_rows IS NULL THEN
        v_rows := 0;
        FOR v_staged IN
            SELECT cs9.staged_label(t.run_id, t.table_id)
            FROM cs9.run_table AS t
            WHERE t.run_id = p_run_id AND t.staged_name IS NOT NULL
        LOOP
            EXECUTE format('SELECT count(*) FROM %s WHERE cs9_plan = $1', v_staged) INTO v_count USING p_plan;
            v_rows := v_rows + v_count;
        END LOOP;
    END IF;
    IF p_plan = 1 THEN
        PERFORM cs9.check_swap_early(p_run_id);
    END IF;
    PERFORM cs9.end_plan(p_run_id, p_plan, p_attempt, 'done', v_rows, NULL);
END;
$finish_plan$;
COMMENT ON FUNCTION cs9.finish_plan(bigint, integer, integer, bigint) IS 'Ends a plan as done; what it staged is kept';
