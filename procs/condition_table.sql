-- Purpose: the name of the table in which this session reads conditions, and undoes it at once.
CREATE FUNCTION cs9.condition_table()
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $condition_table$
#variable_conflict error
BEGIN
    RETURN format('cs9_staging.cs9_condition_%s', pg_backend_pid());
END;
$condition_table$;
COMMENT ON FUNCTION cs9.condition_table() IS 'Name of the table in which this session reads conditions';
