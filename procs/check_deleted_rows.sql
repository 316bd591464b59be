-- Purpose: the condition of a delete is evaluated for live rows, and may raise for one of them: 1 / n > 0.
-- How:     each step of the publish that deletes by a condition is read beforehand, in the same way.
-- Errors:  S9013.
CREATE FUNCTION cs9.check_deleted_rows(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_deleted_rows$
#variable_conflict error
DECLARE
    v_step record;
BEGIN
    FOR v_step IN
        SELECT s.relation, s.condition
        FROM cs9.run_delete_steps(p_run_id, p_table_id) AS s
        WHERE s.kind = 'delete' AND s.condition <> 'true'
    LOOP
        PERFORM cs9.evaluate(p_table_id, format('SELECT count(*) FROM %s WHERE %s', v_step.relation, v_step.condition),
                             format('the condition of a delete, for a row of %s,', v_step.relation));
    END LOOP;
END;
$check_deleted_rows$;
COMMENT ON FUNCTION cs9.check_deleted_rows(bigint, integer) IS 'Refuses a delete whose condition raises for a live row';
