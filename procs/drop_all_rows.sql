-- Purpose: record that the run empties the table. Errors: those of cs9.stage_delete.
CREATE FUNCTION cs9.drop_all_rows(p_table text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_all_rows$
#variable_conflict error
BEGIN
    PERFORM cs9.stage_delete(p_table, 'all', NULL);
END;
$drop_all_rows$;
COMMENT ON FUNCTION cs9.drop_all_rows(text) IS 'Records that the run removes every live row of the table';
