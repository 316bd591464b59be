-- Purpose: an expression over the columns of a table as it prints once it was read as often as it takes to print the same again.
-- Returns: the settled text of (expression) IS NULL, which has any type of expression.
CREATE FUNCTION cs9.settled_expression(p_table regclass, p_expression text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $settled_expression$
#variable_conflict error
DECLARE
    c_readings CONSTANT integer := 10;
    v_scratch  CONSTANT text := format('cs9_staging.%I', format('cs9_reading_%s', pg_backend_pid()));
    v_text     text := format('(%s) IS NULL', p_expression);
    v_printed  text;
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE %s)', v_scratch, p_table);
    FOR i IN 1 .. c_readings LOOP
        EXECUTE format('ALTER TABLE %s ADD CONSTRAINT cs9_read CHECK (%s)', v_scratch, v_text);
        SELECT pg_get_expr(k.conbin, k.conrelid) INTO STRICT v_printed
        FROM pg_catalog.pg_constraint AS k
        WHERE k.conrelid = v_scratch::regclass AND k.conname = 'cs9_read';
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT cs9_read', v_scratch);
        EXIT WHEN v_printed = v_text;
        v_text := v_printed;
    END LOOP;
    EXECUTE format('DROP TABLE %s', v_scratch);
    RETURN v_text;
END;
$settled_expression$;
COMMENT ON FUNCTION cs9.settled_expression(regclass, text) IS 'An expression as it prints once it was read';
