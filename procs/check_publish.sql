-- Purpose: a publish that starts can finish. Everything that could refuse a row or a step is looked for here, before
--          the first live row is touched: when the run is finished, and again when its publish begins.
-- Errors:  S9013, S9014.
CREATE FUNCTION cs9.check_publish(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_publish$
#variable_conflict error
DECLARE
    v_table integer;
BEGIN
    FOR v_table IN
        SELECT t.table_id FROM cs9.run_table AS t WHERE t.run_id = p_run_id ORDER BY t.table_id
    LOOP
        PERFORM cs9.check_table(p_run_id, v_table);
    END LOOP;
END;
$check_publish$;
COMMENT ON FUNCTION cs9.check_publish(bigint) IS 'Looks for everything that could stop the publish of a run in the middle';
