-- Purpose: staged rows passed the checks of the definition; the live table may have got others since, and so may a
--          partition, for its own rows.
-- Errors:  S9013 names the check and the first row that fails it.
CREATE FUNCTION cs9.check_constraints(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_constraints$
#variable_conflict error
DECLARE
    v_staged text := cs9.staged_label(p_run_id, p_table_id);
    v_check  record;
    v_failed boolean;
    v_row    text;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_check IN
        SELECT DISTINCT ON (expression, bound) c.conname, pg_get_expr(c.conbin, c.conrelid) AS expression,
               coalesce(pg_get_partition_constraintdef(c.conrelid), 'true') AS bound
        FROM pg_catalog.pg_constraint AS c
        WHERE c.contype = 'c'
          AND c.conrelid IN (SELECT r FROM cs9.with_partitions(to_regclass(cs9.table_label(p_table_id))) AS r)
          AND c.coninhcount = 0
          AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true)  -- which PostgreSQL 18 lets it be
          AND NOT EXISTS (
              SELECT
              FROM pg_catalog.pg_constraint AS k
              WHERE k.contype = 'c'
                AND k.conrelid = to_regclass(v_staged)
                AND pg_get_expr(k.conbin, k.conrelid) = pg_get_expr(c.conbin, c.conrelid)
          )
        ORDER BY expression, bound, c.conname
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE NOT (%s) AND (%s))', v_staged, v_check.expression, v_check.bound) INTO v_failed;
        IF v_failed THEN
            EXECUTE format('SELECT (cs9_s.*)::text FROM %s AS cs9_s WHERE NOT (%s) AND (%s) LIMIT 1', v_staged, v_check.expression, v_check.bound) INTO v_row;
            PERFORM cs9.cannot_finish(p_table_id, format('a staged row fails the check %I', v_check.conname),
                format('The check is %s; the row is %s.', v_check.expression, left(v_row, 200)),
                'Correct the row, or drop the check.');
        END IF;
    END LOOP;
END;
$check_constraints$;
COMMENT ON FUNCTION cs9.check_constraints(bigint, integer) IS 'Refuses staged rows that fail a check of the live table';
