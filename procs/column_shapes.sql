-- Purpose: the columns of a table as text that can be compared, and read: type, collation, NOT NULL, where values come from.
-- Returns: shape, all of it; kind, all but the expression; expression, of a default or a generated column.
CREATE FUNCTION cs9.column_shapes(p_table regclass)
RETURNS TABLE (column_name name, shape text, kind text, expression text)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $column_shapes$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT s.attname, concat_ws(' ', s.kind, s.source, CASE WHEN s.storing IS NULL THEN s.expression ELSE format('(%s)', s.expression) END, s.storing),
           concat_ws(' ', s.kind, s.source, s.storing), s.expression
    FROM (
        SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) AS expression,
               concat_ws(' ', cs9.type_name(a.atttypid, a.atttypmod),
                         CASE WHEN a.attcollation <> t.typcollation THEN format('collate %s', l.oid::regcollation) END,
                         CASE WHEN a.attnotnull THEN 'not null' END) AS kind,
               CASE
                   WHEN a.attidentity <> '' THEN format('generated %s as identity (sequence %s)',
                       CASE a.attidentity WHEN 'a' THEN 'always' ELSE 'by default' END,
                       (SELECT CASE WHEN s.relnamespace = c.relnamespace THEN quote_ident(s.relname) ELSE s.oid::regclass::text END
                        FROM pg_catalog.pg_class AS s
                        WHERE s.oid = pg_get_serial_sequence(p_table::text, a.attname)::regclass))
                   WHEN a.attgenerated <> '' THEN 'generated always as'
                   WHEN d.adbin IS NOT NULL THEN 'default'
               END AS source,
               CASE a.attgenerated WHEN 's' THEN 'stored' WHEN 'v' THEN 'virtual' END AS storing
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
        LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
        LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped
    ) AS s;
END;
$column_shapes$;
COMMENT ON FUNCTION cs9.column_shapes(regclass) IS 'The columns of a table, as text that can be compared';
