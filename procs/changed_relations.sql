-- Purpose: what ANALYZE has to look at when a run has changed a table: the table, or, where it has many partitions, those of
--          them that may hold rows which the run deletes or staged.
CREATE FUNCTION cs9.changed_relations(p_run_id bigint, p_table_id integer)
RETURNS TABLE (relation text)
LANGUAGE plpgsql
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $changed_relations$
#variable_conflict error
BEGIN
    IF NOT cs9.has_many_partitions(p_table_id) THEN
        RETURN QUERY SELECT cs9.table_label(p_table_id);
        RETURN;
    END IF;
    RETURN QUERY SELECT l::text FROM cs9.touched_leaves(p_run_id, p_table_id) AS l;
END;
$changed_relations$;
COMMENT ON FUNCTION cs9.changed_relations(bigint, integer) IS 'What ANALYZE has to look at when a run has changed a table';
