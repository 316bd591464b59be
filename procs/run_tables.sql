-- Purpose: the ids of the tables of a run, sorted.
CREATE FUNCTION cs9.run_tables(p_run_id bigint)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $run_tables$
#variable_conflict error
BEGIN
    RETURN (
        SELECT array_agg(t.table_id ORDER BY t.table_id)
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id
    );
END;
$run_tables$;
COMMENT ON FUNCTION cs9.run_tables(bigint) IS 'Ids of the tables of a run';
