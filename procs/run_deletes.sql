-- Purpose: which live rows of a table a run removes, all its deletes together.
-- Returns: an expression that is true for them, false or null for all others; 'false' when the run deletes nothing there.
CREATE FUNCTION cs9.run_deletes(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $run_deletes$
#variable_conflict error
BEGIN
    RETURN (
        SELECT CASE
                   WHEN count(*) = 0 THEN 'false'
                   WHEN bool_or(d.kind = 'all') THEN 'true'
                   ELSE string_agg(DISTINCT '(' || cs9.deleted_rows(d.kind, d.condition) || ')', ' OR ')
               END
        FROM cs9.staged_delete AS d
        WHERE d.run_id = p_run_id AND d.table_id = p_table_id
    );
END;
$run_deletes$;
COMMENT ON FUNCTION cs9.run_deletes(bigint, integer) IS 'Expression that is true for the live rows that a run removes';
