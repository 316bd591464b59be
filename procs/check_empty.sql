-- Purpose: a run that leaves its table empty and staged nothing is more often a fault upstream than what was meant, in
--          whatever words it deletes. A table that is empty already is not emptied by a condition.
-- Errors:  S9014 unless the run was begun with p_allow_empty.
CREATE FUNCTION cs9.check_empty(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_empty$
#variable_conflict error
DECLARE
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
    v_empties boolean := v_deletes = 'true';
BEGIN
    IF v_deletes = 'false' OR NOT EXISTS (
        SELECT
        FROM cs9.run_table AS t
        JOIN cs9.run AS r ON r.run_id = t.run_id
        WHERE t.run_id = p_run_id
          AND t.table_id = p_table_id
          AND t.rows_inserted + t.rows_upserted = 0
          AND NOT r.allow_empty
    ) THEN
        RETURN;
    END IF;
    IF NOT v_empties THEN
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %1$s WHERE (%2$s) IS NOT TRUE) AND EXISTS (SELECT FROM %1$s)', cs9.table_label(p_table_id), v_deletes)
        INTO STRICT v_empties;
    END IF;
    IF v_empties THEN
        RAISE EXCEPTION 'the run drops all rows of % and staged none', cs9.table_label(p_table_id)
            USING ERRCODE = 'S9014',
                  DETAIL = 'Publishing it would leave the table empty.',
                  HINT = 'If that is meant, begin the run with p_allow_empty (AllowEmpty in Go). No live row was touched.',
                  SCHEMA = (SELECT d.schema_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id),
                  TABLE = (SELECT d.table_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
    END IF;
END;
$check_empty$;
COMMENT ON FUNCTION cs9.check_empty(bigint, integer) IS 'Refuses a run that empties a table and staged nothing, unless that was allowed';
