-- Purpose: the statement that builds an index like another one: as unique as that, and what p_tail says after USING.
CREATE FUNCTION cs9.index_like(p_index regclass, p_name name, p_table regclass, p_tail text)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $index_like$
#variable_conflict error
BEGIN
    RETURN (
        SELECT format('CREATE %sINDEX %I ON %s USING %s', CASE WHEN i.indisunique THEN 'UNIQUE ' END, p_name, p_table, p_tail)
        FROM pg_catalog.pg_index AS i
        WHERE i.indexrelid = p_index
    );
END;
$index_like$;
COMMENT ON FUNCTION cs9.index_like(regclass, name, regclass, text) IS 'The statement that builds an index like another one';
