-- Purpose: record that the run removes the live rows for which the condition is true. Errors: S9024 a lock was not had; those of cs9.stage_delete.
CREATE FUNCTION cs9.drop_rows_where(p_table text, p_condition text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $drop_rows_where$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.stage_delete(p_table, 'where', p_condition);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.drop_rows_where');
END;
$drop_rows_where$;
COMMENT ON FUNCTION cs9.drop_rows_where(text, text) IS 'Records that the run removes the live rows for which the condition is true';
