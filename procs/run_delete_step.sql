-- Purpose: call the delete function that was generated for the table.
-- Returns: how many rows went; null after TRUNCATE, which does not count.
CREATE FUNCTION cs9.run_delete_step(p_table_id integer, p_relation text, p_condition text)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $run_delete_step$
#variable_conflict error
DECLARE
    v_function text;
    v_rows     bigint;
BEGIN
    SELECT format('%I.%I', d.schema_name, d.delete_function) INTO STRICT v_function
    FROM cs9.table_definition AS d
    WHERE d.table_id = p_table_id;
    EXECUTE format('SELECT %s($1, $2)', v_function) INTO v_rows USING p_relation, p_condition;
    RETURN v_rows;
END;
$run_delete_step$;
COMMENT ON FUNCTION cs9.run_delete_step(integer, text, text) IS 'Calls the generated delete function of a table';
