-- Purpose: no index of the live table or of a partition, of whatever kind and whoever made it, may refuse a staged row:
--          because its expression or predicate raises, or because the row is too large for it.
-- How:     the cheap proof first: columns whose type is short need nothing, the longest value of the others is found by
--          one scan, expressions and predicates are evaluated once. Only where that does not do are the doubtful rows put
--          into an empty index of the same kind (cs9.try_index). The primary key was built on the staged rows already.
-- Contract: p_tree is cs9.touched_tree: what does not lie in it gets none of the rows.
-- Errors:  S9013 names the index, and what PostgreSQL said.
CREATE FUNCTION cs9.check_indexes(p_run_id bigint, p_table_id integer, p_tree oid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_indexes$
#variable_conflict error
DECLARE
    v_staged CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_sizes  jsonb;
    v_index  record;
    v_bytes  bigint;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    v_sizes := cs9.column_sizes(v_staged, ARRAY (
        SELECT DISTINCT p.expression
        FROM cs9.indexes_of(p_tree) AS x
        JOIN pg_catalog.pg_index AS i ON i.indexrelid = x.index AND NOT (i.indisprimary AND i.indnatts = i.indnkeyatts)
        CROSS JOIN LATERAL cs9.index_limit(x.index) AS l
        CROSS JOIN LATERAL cs9.index_parts(x.index) AS p
        WHERE p.is_column AND p.bound IS NULL AND l.bytes IS NOT NULL
        ORDER BY p.expression));

    FOR v_index IN
        SELECT x.*, l.bytes, l.doubtful, s.size, s.evaluated,
               format('the index %s%s', x.index, ', which calls ' || x.calls || ',') AS subject
        FROM cs9.indexes_of(p_tree) AS x
        JOIN pg_catalog.pg_index AS i ON i.indexrelid = x.index AND NOT (i.indisprimary AND i.indnatts = i.indnkeyatts)
        CROSS JOIN LATERAL cs9.index_limit(x.index) AS l
        CROSS JOIN LATERAL (
            -- header and alignment included
            SELECT format('16 + %s', string_agg(CASE
                       WHEN p.bound IS NOT NULL THEN (p.bound + 11)::text
                       WHEN l.whole THEN format('coalesce(CASE WHEN pg_column_compression(%1$s) IS NULL THEN pg_column_size(%1$s) ELSE 1000000 END, 0) + 11', p.expression)
                       ELSE format('coalesce(pg_column_size(%s), 0) + 11', p.expression)
                   END, ' + ' ORDER BY p.n)) AS size,
                   bool_or(NOT p.is_column) OR x.predicate IS NOT NULL AS evaluated,
                   16 + sum(coalesce(p.bound, (v_sizes -> p.expression ->> CASE WHEN l.whole THEN 'whole' ELSE 'stored' END)::integer) + 11) AS largest
            FROM cs9.index_parts(x.index) AS p
        ) AS s
        WHERE s.evaluated OR l.doubtful OR s.largest > l.bytes
    LOOP
        v_bytes := cs9.evaluate(p_table_id,
            format('SELECT max(CASE WHEN %s THEN CASE WHEN %s THEN %s END END) FROM %s', coalesce(v_index.bound, 'true'),
                   coalesce(v_index.predicate, 'true'), v_index.size, v_staged),
            v_index.subject);
        IF v_index.doubtful OR v_bytes > v_index.bytes THEN
            PERFORM cs9.try_index(p_table_id, v_index.index, v_staged,
                format('CASE WHEN %s THEN CASE WHEN %s THEN %s > %s END END', coalesce(v_index.bound, 'true'), coalesce(v_index.predicate, 'true'),
                       v_index.size, CASE WHEN v_index.doubtful THEN 0 ELSE v_index.bytes END));
        END IF;
    END LOOP;
END;
$check_indexes$;
COMMENT ON FUNCTION cs9.check_indexes(bigint, integer, oid[]) IS 'Refuses staged rows that an index of the live table would not take';
