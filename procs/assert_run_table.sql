-- Purpose: a run writes to the tables it began with, and to no other.
-- Errors:  S9009.
CREATE FUNCTION cs9.assert_run_table(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_run_table$
#variable_conflict error
BEGIN
    IF NOT EXISTS (
        SELECT FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = p_table_id
    ) THEN
        RAISE EXCEPTION 'table % is not one of the tables of run %', cs9.table_label(p_table_id), p_run_id
            USING ERRCODE = 'S9009',
                  DETAIL = format('The run began with %s.', (
                      SELECT string_agg(cs9.table_label(t.table_id), ', ' ORDER BY t.table_id)
                      FROM cs9.run_table AS t
                      WHERE t.run_id = p_run_id)),
                  HINT = 'Name every table of the task in cs9.begin_run.',
                  SCHEMA = 'cs9', TABLE = 'run_table';
    END IF;
END;
$assert_run_table$;
COMMENT ON FUNCTION cs9.assert_run_table(bigint, integer) IS 'Fails unless the table is one of the run''s';
