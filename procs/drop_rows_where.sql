-- Purpose: record that the run removes the live rows for which the condition is true. Errors: those of cs9.stage_delete.
CREATE FUNCTION cs9.drop_rows_where(p_table text, p_condition text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_rows_where$
#variable_conflict error
BEGIN
    PERFORM cs9.stage_delete(p_table, 'where', p_condition);
END;
$drop_rows_where$;
COMMENT ON FUNCTION cs9.drop_rows_where(text, text) IS 'Records that the run removes the live rows for which the condition is true';
