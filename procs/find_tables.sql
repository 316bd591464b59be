-- Purpose: the ids of a run's tables, each once, in the fixed order in which everything locks them.
-- Errors:  S9010 for a table that is not registered; S9016 when the list is empty.
CREATE FUNCTION cs9.find_tables(p_tables text[])
RETURNS integer[]
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $find_tables$
#variable_conflict error
BEGIN
    IF coalesce(cardinality(p_tables), 0) = 0 THEN
        RAISE EXCEPTION 'the run has no tables'
            USING ERRCODE = 'S9016',
                  DETAIL = 'A run is published into its tables, so that it needs one at least.',
                  HINT = 'Pass the tables as an array of schema.table.',
                  SCHEMA = 'cs9', TABLE = 'run_table';
    END IF;
    RETURN (
        SELECT array_agg(DISTINCT cs9.find_table(t.name) ORDER BY cs9.find_table(t.name))
        FROM unnest(p_tables) AS t (name)
    );
END;
$find_tables$;
COMMENT ON FUNCTION cs9.find_tables(text[]) IS 'Ids of the named tables, sorted, each once';
