-- Purpose: a run that is to be swapped must empty its table, and plan 1 is the one that may: say so when plan 1 is
--          done, not hours later.
-- Errors:  S9013.
CREATE FUNCTION cs9.check_swap_early(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_swap_early$
#variable_conflict error
DECLARE
    v_table integer;
BEGIN
    FOR v_table IN
        SELECT t.table_id
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.publish_mode = 'swap' AND t.staged_name IS NOT NULL
          AND NOT EXISTS (SELECT FROM cs9.staged_delete AS d WHERE d.run_id = t.run_id AND d.table_id = t.table_id)
    LOOP
        PERFORM cs9.check_swap(p_run_id, v_table);
    END LOOP;
END;
$check_swap_early$;
COMMENT ON FUNCTION cs9.check_swap_early(bigint) IS 'Refuses a run that is to be swapped and whose plan 1 deleted nothing';
