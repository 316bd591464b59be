-- Purpose: the columns that a condition on a table may name, as a query of its empty template.
CREATE FUNCTION cs9.rows_for_condition(p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $rows_for_condition$
#variable_conflict error
BEGIN
    RETURN (
        SELECT format('SELECT %s FROM %I.%I', string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum), d.schema_name, d.staging_name)
        FROM cs9.table_definition AS d
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = to_regclass(format('%I.%I', d.schema_name, d.staging_name))
        WHERE d.table_id = p_table_id AND a.attnum > 0 AND NOT a.attisdropped AND a.attname NOT IN ('cs9_run', 'cs9_plan', 'cs9_op')
        GROUP BY d.table_id
    );
END;
$rows_for_condition$;
COMMENT ON FUNCTION cs9.rows_for_condition(integer) IS 'The columns that a condition on a table may name, as a query';
