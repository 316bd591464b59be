-- Purpose: what an index is, but for its name, its table and where it is stored: two indexes of two tables that serve the
--          same way have one shape.
CREATE FUNCTION cs9.index_shape(p_index regclass)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $index_shape$
#variable_conflict error
BEGIN
    RETURN (
        SELECT concat_ws(' ', CASE WHEN i.indisunique THEN 'unique' END, m.amname, format('(%s)', k.columns),
                         -- NULLS NOT DISTINCT came with PostgreSQL 15: to_jsonb reads the column where there is one
                         CASE WHEN (to_jsonb(i) ->> 'indnullsnotdistinct')::boolean THEN 'nulls not distinct' END,
                         'include (' || n.columns || ')', 'where ' || pg_get_expr(i.indpred, i.indrelid))
        FROM pg_catalog.pg_index AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_catalog.pg_am AS m ON m.oid = c.relam
        CROSS JOIN LATERAL (
            SELECT string_agg(concat_ws(' ', pg_get_indexdef(i.indexrelid, s.n, true),
                                        CASE WHEN l.collname <> 'default' THEN format('collate %s', l.oid::regcollation) END,
                                        CASE WHEN NOT o.opcdefault THEN CASE q.nspname WHEN 'pg_catalog' THEN quote_ident(o.opcname) ELSE format('%I.%I', q.nspname, o.opcname) END END,
                                        (SELECT a.attoptions::text FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = i.indexrelid AND a.attnum = s.n),
                                        CASE i.indoption[s.n - 1] WHEN 1 THEN 'desc nulls last' WHEN 2 THEN 'nulls first' WHEN 3 THEN 'desc' END),
                              ', ' ORDER BY s.n) AS columns
            FROM generate_series(1, i.indnkeyatts) AS s (n)
            JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[s.n - 1]
            JOIN pg_catalog.pg_namespace AS q ON q.oid = o.opcnamespace
            LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = i.indcollation[s.n - 1]
        ) AS k
        CROSS JOIN LATERAL (
            SELECT string_agg(pg_get_indexdef(i.indexrelid, s.n, true), ', ' ORDER BY s.n) AS columns
            FROM generate_series(i.indnkeyatts + 1, i.indnatts) AS s (n)
        ) AS n
        WHERE i.indexrelid = p_index
    );
END;
$index_shape$;
COMMENT ON FUNCTION cs9.index_shape(regclass) IS 'What an index is, but for its name and its table';
