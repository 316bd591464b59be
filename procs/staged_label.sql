-- Purpose: the run's own table for a live table, as SQL writes it.
-- Returns: null when the run has written nothing to it.
CREATE FUNCTION cs9.staged_label(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $staged_label$
#variable_conflict error
BEGIN
    RETURN (
        SELECT format('cs9_staging.%I', t.staged_name)
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id
          AND t.table_id = p_table_id
          AND t.staged_name IS NOT NULL
    );
END;
$staged_label$;
COMMENT ON FUNCTION cs9.staged_label(bigint, integer) IS 'Qualified, quoted name of the run''s own table, or null';
