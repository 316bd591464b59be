-- Purpose: the name of a registered table for messages and for SQL: qualified, and quoted where needed.
CREATE FUNCTION cs9.table_label(p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $table_label$
#variable_conflict error
BEGIN
    RETURN (
        SELECT format('%I.%I', d.schema_name, d.table_name)
        FROM cs9.table_definition AS d
        WHERE d.table_id = p_table_id
    );
END;
$table_label$;
COMMENT ON FUNCTION cs9.table_label(integer) IS 'Qualified, quoted name of a registered table';
