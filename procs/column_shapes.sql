-- Purpose: the columns of a table as text that can be compared, and read: type, collation, NOT NULL, where values come from.
CREATE FUNCTION cs9.column_shapes(p_table regclass)
RETURNS TABLE (column_name name, shape text)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $column_shapes$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT a.attname,
           concat_ws(' ', cs9.type_name(a.atttypid, a.atttypmod),
                     CASE WHEN a.attcollation <> t.typcollation THEN format('collate %I', l.collname) END,
                     CASE WHEN a.attnotnull THEN 'not null' END,
                     CASE
                         WHEN a.attidentity <> '' THEN format('generated %s as identity (sequence %s)',
                             CASE a.attidentity WHEN 'a' THEN 'always' ELSE 'by default' END,
                             (SELECT CASE WHEN s.relnamespace = c.relnamespace THEN quote_ident(s.relname) ELSE s.oid::regclass::text END
                              FROM pg_catalog.pg_class AS s
                              WHERE s.oid = pg_get_serial_sequence(p_table::text, a.attname)::regclass))
                         WHEN a.attgenerated <> '' THEN format('generated always as (%s) %s', pg_get_expr(d.adbin, d.adrelid),
                             CASE a.attgenerated WHEN 's' THEN 'stored' ELSE 'virtual' END)
                         ELSE 'default ' || pg_get_expr(d.adbin, d.adrelid)
                     END)
    FROM pg_catalog.pg_attribute AS a
    JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
    LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = p_table AND a.attnum > 0 AND NOT a.attisdropped;
END;
$column_shapes$;
COMMENT ON FUNCTION cs9.column_shapes(regclass) IS 'The columns of a table, as text that can be compared';
