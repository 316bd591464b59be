-- Purpose: the leaf partitions of a table, or the table itself, that may hold rows which a run deletes or staged.
CREATE FUNCTION cs9.touched_leaves(p_run_id bigint, p_table_id integer)
RETURNS SETOF regclass
LANGUAGE plpgsql
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $touched_leaves$
#variable_conflict error
DECLARE
    v_staged CONSTANT text := (SELECT coalesce(t.staged_values, 'true') FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = p_table_id);
BEGIN
    RETURN QUERY
    SELECT l FROM cs9.leaves_where(p_table_id, cs9.run_deletes(p_run_id, p_table_id)) AS l
    UNION
    SELECT l FROM cs9.leaves_where(p_table_id, v_staged) AS l;
END;
$touched_leaves$;
COMMENT ON FUNCTION cs9.touched_leaves(bigint, integer) IS 'The leaf partitions of a table that may hold rows which a run deletes or staged';
