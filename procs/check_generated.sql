-- Purpose: a generated column is computed again when a row is moved: it must give what was staged, in the environment in which
--          the publish runs; a partition may compute it otherwise than its table.
-- How:     evaluated for the staged rows; not where the staged table has the same expression and it gives the same anywhere.
-- Contract: p_tree is cs9.touched_tree: what does not lie in it gets none of the rows.
-- Errors:  S9013 names the column.
CREATE FUNCTION cs9.check_generated(p_run_id bigint, p_table_id integer, p_tree oid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_generated$
#variable_conflict error
DECLARE
    v_staged CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_live   CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_column record;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_column IN
        SELECT DISTINCT ON (a.attname, e.expression, b.bound) a.attname, e.expression, b.bound, cs9.called_routines(g.adbin::text) AS calls
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_attrdef AS g ON g.adrelid = a.attrelid AND g.adnum = a.attnum
        CROSS JOIN LATERAL (SELECT pg_get_expr(g.adbin, g.adrelid) AS expression) AS e
        LEFT JOIN pg_catalog.pg_attribute AS p ON p.attrelid = v_live AND p.attname = a.attname AND a.attrelid <> v_live
        LEFT JOIN pg_catalog.pg_attrdef AS pg ON pg.adrelid = p.attrelid AND pg.adnum = p.attnum
        CROSS JOIN LATERAL (SELECT CASE WHEN a.attrelid <> v_live THEN pg_get_partition_constraintdef(a.attrelid) END AS bound) AS b
        WHERE a.attrelid = ANY (p_tree)
          AND a.attgenerated <> ''
          AND pg_get_expr(pg.adbin, pg.adrelid) IS DISTINCT FROM e.expression
          AND NOT (cs9.is_plain_expression(g.adbin::text) AND EXISTS (
              SELECT
              FROM pg_catalog.pg_attribute AS s
              JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = s.attrelid AND d.adnum = s.attnum
              WHERE s.attrelid = to_regclass(v_staged) AND s.attname = a.attname AND pg_get_expr(d.adbin, d.adrelid) = e.expression))
    LOOP
        IF cs9.evaluate(p_table_id,
               format('SELECT count(*) FROM (SELECT FROM %1$s WHERE CASE WHEN %2$s THEN ROW(%3$I)::record *<> ROW((%4$s))::record END LIMIT 1) AS cs9_s',
                      v_staged, coalesce(v_column.bound, 'true'), v_column.attname, v_column.expression),
               format('the generated column %I%s', v_column.attname, ', which calls ' || v_column.calls || ',')) > 0
        THEN
            PERFORM cs9.cannot_finish(p_table_id, format('the generated column %I gives another value than when the rows were staged', v_column.attname),
                format('It is %s; the publish evaluates it under search_path %s.', v_column.expression, cs9.table_path(p_table_id)),
                'Let it depend on the columns of the row alone, or name its functions'' schemas: search_path: in the definition, or ALTER FUNCTION … SET search_path.');
        END IF;
    END LOOP;
END;
$check_generated$;
COMMENT ON FUNCTION cs9.check_generated(bigint, integer, oid[]) IS 'Refuses staged rows whose generated columns would get another value';
