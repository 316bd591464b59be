-- Purpose: the search_path under which all that hangs on a live table is evaluated: its checks, generated columns, index
--          expressions and triggers. It is what the table's definition says; without that, PostgreSQL's own schema alone.
-- Returns: as SET search_path takes it. pg_temp comes last, so that no session can put a function of its own first.
CREATE FUNCTION cs9.table_path(p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $table_path$
#variable_conflict error
BEGIN
    RETURN (
        SELECT array_to_string(ARRAY (
                   SELECT quote_ident(s.name)
                   FROM unnest(CASE WHEN cardinality(d.search_path) = 0 THEN ARRAY['pg_catalog']::name[] ELSE d.search_path END)
                       WITH ORDINALITY AS s (name, n)
                   ORDER BY s.n) || ARRAY['pg_temp'], ', ')
        FROM cs9.table_definition AS d
        WHERE d.table_id = p_table_id
    );
END;
$table_path$;
COMMENT ON FUNCTION cs9.table_path(integer) IS 'The search_path under which what hangs on a table is evaluated';
