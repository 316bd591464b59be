-- Purpose: the shape of an index as it is once it was read as often as it takes to print the same again.
-- Contract: makes a table in cs9_staging for a moment.
CREATE FUNCTION cs9.settled_index(p_index regclass)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $settled_index$
#variable_conflict error
DECLARE
    c_readings CONSTANT integer := 10;
    v_scratch  CONSTANT text := format('cs9_staging.%I', format('cs9_reading_%s', pg_backend_pid()));
    v_index    regclass := p_index;
    v_next     regclass;
    v_shape    text := cs9.index_shape(p_index);
    v_settled  boolean := false;
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE %s)', v_scratch, (SELECT i.indrelid::regclass FROM pg_catalog.pg_index AS i WHERE i.indexrelid = p_index));
    FOR i IN 1 .. c_readings LOOP
        EXECUTE cs9.index_like(v_index, format('cs9_read_%s_%s', i, pg_backend_pid())::name, v_scratch::regclass, cs9.index_tail(v_index));
        v_next := format('cs9_staging.%I', format('cs9_read_%s_%s', i, pg_backend_pid()))::regclass;
        v_settled := cs9.index_shape(v_next) = v_shape;
        EXIT WHEN v_settled;
        v_index := v_next;
        v_shape := cs9.index_shape(v_next);
    END LOOP;
    EXECUTE format('DROP TABLE %s', v_scratch);
    RETURN v_shape;
END;
$settled_index$;
COMMENT ON FUNCTION cs9.settled_index(regclass) IS 'The shape of an index once it was read';
