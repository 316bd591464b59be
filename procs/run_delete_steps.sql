-- Purpose: how a batched publish does the deletes of a run on one table.
-- How:     one after another; all at once where rows of the table reference each other, because a row may go by one
--          delete and what it references by another. A delete of all rows makes the others superfluous.
-- Returns: the steps, and the order of the deletes that they belong to.
CREATE FUNCTION cs9.run_delete_steps(p_run_id bigint, p_table_id integer)
RETURNS TABLE (delete_id bigint, kind text, relation text, condition text)
LANGUAGE plpgsql
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $run_delete_steps$
#variable_conflict error
DECLARE
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
BEGIN
    IF v_deletes NOT IN ('true', 'false') AND cs9.references_itself(p_table_id) THEN
        RETURN QUERY SELECT 1::bigint, s.* FROM cs9.delete_steps(p_table_id, 'where', v_deletes) AS s;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT d.delete_id, s.*
    FROM (
        SELECT DISTINCT ON (x.kind, x.condition) x.*
        FROM cs9.staged_delete AS x
        WHERE x.run_id = p_run_id AND x.table_id = p_table_id
          AND (x.kind = 'all' OR v_deletes <> 'true')
        ORDER BY x.kind, x.condition, x.delete_id
    ) AS d
    CROSS JOIN LATERAL cs9.delete_steps(p_table_id, d.kind, d.condition) AS s;
END;
$run_delete_steps$;
COMMENT ON FUNCTION cs9.run_delete_steps(bigint, integer) IS 'The delete steps of a batched publish of a table';
