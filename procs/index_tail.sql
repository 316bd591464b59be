-- Purpose: what an index is, as CREATE INDEX says it after USING.
CREATE FUNCTION cs9.index_tail(p_index regclass)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $index_tail$
#variable_conflict error
BEGIN
    RETURN (
        SELECT substr(pg_get_indexdef(i.indexrelid),
                      length(format('CREATE %sINDEX %I ON %s%I.%I USING ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, c.relname,
                                    CASE WHEN c.relkind = 'I' THEN 'ONLY ' END, n.nspname, t.relname)) + 1)
        FROM pg_catalog.pg_index AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_catalog.pg_class AS t ON t.oid = i.indrelid
        JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
        WHERE i.indexrelid = p_index
    );
END;
$index_tail$;
COMMENT ON FUNCTION cs9.index_tail(regclass) IS 'What an index is, as CREATE INDEX says it after USING';
