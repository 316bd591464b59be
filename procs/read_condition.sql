-- Purpose: let PostgreSQL read a condition, with the settings of the caller, as the expression of a generated column.
-- Contract: p_reading 1 makes a table like the template of p_table_id for it, which the caller undoes; later ones give it another
--           column. It is partitioned, which spares it any file. The generated columns of the template are plain ones
--           there, so that the expression can name them. The condition is one expression.
-- Returns: the name of the column.
CREATE FUNCTION cs9.read_condition(p_table_id integer, p_reading integer, p_condition text)
RETURNS name
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $read_condition$
#variable_conflict error
DECLARE
    v_column CONSTANT name := format('cs9_condition_%s', p_reading);
BEGIN
    PERFORM set_config('search_path', cs9.condition_path(p_table_id), true);
    IF p_reading = 1 THEN
        EXECUTE (
            SELECT format(E'CREATE TABLE %s (LIKE %I.%I, %I boolean GENERATED ALWAYS AS (%s\n) STORED) PARTITION BY LIST (%I)',
                          cs9.condition_table(), d.schema_name, d.staging_name, v_column, p_condition, d.keys[1])
            FROM cs9.table_definition AS d
            WHERE d.table_id = p_table_id);
    ELSE
        EXECUTE format(E'ALTER TABLE %s ADD COLUMN %I boolean GENERATED ALWAYS AS (%s\n) STORED', cs9.condition_table(), v_column, p_condition);
    END IF;
    RETURN v_column;
END;
$read_condition$;
COMMENT ON FUNCTION cs9.read_condition(integer, integer, text) IS 'Lets PostgreSQL read a condition with the settings of the caller';
