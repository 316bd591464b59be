-- Purpose: an index of an empty table is made anew, for it to print as p_like does: PostgreSQL takes two for one index only then.
CREATE FUNCTION cs9.rewrite_index(p_index regclass, p_like regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $rewrite_index$
#variable_conflict error
DECLARE
    v_schema name;
    v_name   name;
    v_table  regclass;
    v_tail   text;
BEGIN
    SELECT n.nspname, c.relname, i.indrelid::regclass INTO STRICT v_schema, v_name, v_table
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE i.indexrelid = p_index;
    FOR v_tail IN SELECT r FROM cs9.readings(cs9.index_tail(p_like)) AS r LOOP
        EXECUTE format('DROP INDEX %I.%I', v_schema, v_name);
        EXECUTE cs9.index_like(p_like, v_name, v_table, v_tail);
        EXIT WHEN cs9.index_shape(format('%I.%I', v_schema, v_name)::regclass) = cs9.index_shape(p_like);
    END LOOP;
END;
$rewrite_index$;
COMMENT ON FUNCTION cs9.rewrite_index(regclass, regclass) IS 'Makes an index of an empty table anew, for it to print as another one does';
