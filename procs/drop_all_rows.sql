-- Purpose: record that the run empties the table. Errors: S9024 a lock was not had; those of cs9.stage_delete.
CREATE FUNCTION cs9.drop_all_rows(p_table text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $drop_all_rows$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.stage_delete(p_table, 'all', NULL);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.drop_all_rows');
END;
$drop_all_rows$;
COMMENT ON FUNCTION cs9.drop_all_rows(text) IS 'Records that the run removes every live row of the table';
