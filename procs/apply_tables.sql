-- Purpose: the tables of a run that are published in one transaction, and how: atomic or swap.
CREATE FUNCTION cs9.apply_tables(p_run_id bigint)
RETURNS TABLE (table_id integer, mode text)
LANGUAGE plpgsql
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $apply_tables$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT t.table_id, cs9.publish_mode_of(p_run_id, t.table_id)
    FROM cs9.run_table AS t
    WHERE t.run_id = p_run_id AND t.publish_mode <> 'batched'
    ORDER BY t.table_id;
END;
$apply_tables$;
COMMENT ON FUNCTION cs9.apply_tables(bigint) IS 'The tables of a run that are published in one transaction';
