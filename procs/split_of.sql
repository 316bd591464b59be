-- Purpose: the run's own rows for a live table, split as that is: the table that was split from the beginning, or the one
--          that cs9.split_rows made.
-- Returns: null where the rows are one heap.
CREATE FUNCTION cs9.split_of(p_run_id bigint, p_table_id integer)
RETURNS regclass
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $split_of$
#variable_conflict error
BEGIN
    RETURN (
        SELECT c.oid::regclass
        FROM cs9.run_table AS t
        JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass('cs9_staging.' || quote_ident(coalesce(t.split_name, t.staged_name)))
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND c.relkind = 'p'
    );
END;
$split_of$;
COMMENT ON FUNCTION cs9.split_of(bigint, integer) IS 'The run''s own rows for a live table, split as that is, or null';
