-- Purpose: called before an index is built CONCURRENTLY: drop what an attempt that failed has left.
CREATE FUNCTION cs9.drop_invalid_index(p_schema name, p_index name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $drop_invalid_index$
#variable_conflict error
BEGIN
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_index AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = p_schema AND c.relname = p_index AND c.relkind = 'i' AND NOT i.indisvalid
    ) THEN
        EXECUTE format('DROP INDEX %I.%I', p_schema, p_index);
    END IF;
END;
$drop_invalid_index$;
COMMENT ON FUNCTION cs9.drop_invalid_index(name, name) IS 'Drops an index that was not built to its end, if it is there';
