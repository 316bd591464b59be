-- Purpose: whether a run does nothing to one of its tables: it has staged no row for it, and deletes none.
CREATE FUNCTION cs9.leaves_alone(p_run_id bigint, p_table_id integer)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $leaves_alone$
#variable_conflict error
BEGIN
    RETURN cs9.staged_label(p_run_id, p_table_id) IS NULL AND cs9.run_deletes(p_run_id, p_table_id) = 'false';
END;
$leaves_alone$;
COMMENT ON FUNCTION cs9.leaves_alone(bigint, integer) IS 'Whether a run does nothing to one of its tables';
