-- Purpose: which live rows of a table a run leaves in place, as an expression that is never null. p_alias is the name that the
--          table, or a partition of it, has where the expression stands.
-- How:     many deletes are not asked of each row, but of the table, once, where indexes may serve them.
CREATE FUNCTION cs9.rows_that_stay(p_run_id bigint, p_table_id integer, p_alias text)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $rows_that_stay$
#variable_conflict error
DECLARE
    c_few     CONSTANT integer := 8;
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
BEGIN
    IF v_deletes IN ('true', 'false') THEN
        RETURN CASE v_deletes WHEN 'true' THEN 'false' ELSE 'true' END;
    ELSIF (SELECT count(DISTINCT (d.kind, d.condition)) <= c_few FROM cs9.staged_delete AS d WHERE d.run_id = p_run_id AND d.table_id = p_table_id) THEN
        RETURN format('(%s) IS NOT TRUE', v_deletes);
    END IF;
    RETURN format('NOT EXISTS (SELECT FROM %1$s AS cs9_d WHERE (%2$s) AND cs9_d.tableoid = %3$s.tableoid AND cs9_d.ctid = %3$s.ctid)',
                  cs9.table_label(p_table_id), v_deletes, p_alias);
END;
$rows_that_stay$;
COMMENT ON FUNCTION cs9.rows_that_stay(bigint, integer, text) IS 'Expression that is true for the live rows that a run leaves in place';
