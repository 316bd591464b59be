-- Purpose: the checks of the live table, and those of a partition for its own rows, must take the staged rows in the environment
--          in which the publish runs.
-- How:     evaluated for the staged rows; but not where the staged table has the same check and it gives the same anywhere:
--          then each row has passed it.
-- Contract: p_tree is cs9.touched_tree: what does not lie in it gets none of the rows.
-- Errors:  S9013 names the check and the first row that fails it, or the routine that raises.
CREATE FUNCTION cs9.check_constraints(p_run_id bigint, p_table_id integer, p_tree oid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_constraints$
#variable_conflict error
DECLARE
    v_staged  CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_check   record;
    v_fails   text;
    v_subject text;
    v_row     text;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_check IN
        SELECT DISTINCT ON (expression, bound) c.conname, pg_get_expr(c.conbin, c.conrelid) AS expression,
               coalesce(pg_get_partition_constraintdef(c.conrelid), 'true') AS bound, cs9.called_routines(c.conbin::text) AS calls
        FROM pg_catalog.pg_constraint AS c
        WHERE c.contype = 'c'
          AND c.conrelid = ANY (p_tree)
          AND c.coninhcount = 0
          AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true)  -- which PostgreSQL 18 lets it be
          AND NOT (cs9.is_plain_expression(c.conbin::text) AND EXISTS (
              SELECT
              FROM pg_catalog.pg_constraint AS k
              WHERE k.contype = 'c'
                AND k.conrelid = to_regclass(v_staged)
                AND pg_get_expr(k.conbin, k.conrelid) = pg_get_expr(c.conbin, c.conrelid)
          ))
        ORDER BY expression, bound, c.conname
    LOOP
        v_fails := format('FROM %s AS cs9_s WHERE CASE WHEN %s THEN NOT (%s) END', v_staged, v_check.bound, v_check.expression);
        v_subject := format('the check %I%s', v_check.conname, ', which calls ' || v_check.calls || ',');
        IF cs9.evaluate(p_table_id, format('SELECT count(*) FROM (SELECT %s LIMIT 1) AS cs9_f', v_fails), v_subject) > 0 THEN
            PERFORM set_config('search_path', cs9.table_path(p_table_id), true);
            EXECUTE format('SELECT (cs9_s.*)::text %s LIMIT 1', v_fails) INTO v_row;
            PERFORM cs9.cannot_finish(p_table_id, format('a staged row fails the check %I', v_check.conname),
                format('The check is %s; the row is %s.', v_check.expression, left(v_row, 200)),
                'Correct the row, or drop the check.');
        END IF;
    END LOOP;
END;
$check_constraints$;
COMMENT ON FUNCTION cs9.check_constraints(bigint, integer, oid[]) IS 'Refuses staged rows that fail a check of the live table';
