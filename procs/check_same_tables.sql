-- Purpose: a retry must write to the tables of the first attempt, and their definitions must be the same.
-- Errors:  S9009, with the first difference in DETAIL.
CREATE FUNCTION cs9.check_same_tables(p_run cs9.run, p_table_ids integer[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_same_tables$
#variable_conflict error
DECLARE
    v_difference text;
BEGIN
    SELECT CASE
               WHEN t.table_id IS NULL THEN format('%s is new.', cs9.table_label(n.table_id))
               WHEN n.table_id IS NULL THEN format('%s is missing.', cs9.table_label(t.table_id))
               ELSE format('The definition of %s is another one than when the run began.', cs9.table_label(t.table_id))
           END
    INTO v_difference
    FROM (SELECT * FROM cs9.run_table AS x WHERE x.run_id = p_run.run_id) AS t
    FULL JOIN unnest(p_table_ids) AS n (table_id) ON n.table_id = t.table_id
    LEFT JOIN cs9.table_definition AS d ON d.table_id = t.table_id
    WHERE t.table_id IS NULL
       OR n.table_id IS NULL
       OR d.definition_hash <> t.definition_hash
    ORDER BY coalesce(t.table_id, n.table_id)
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    RAISE EXCEPTION 'the tables of run key % changed', quote_literal(p_run.run_key)
        USING ERRCODE = 'S9009',
              DETAIL = v_difference,
              HINT = 'Go back to the tables that the run began with, or start over: SELECT cs9.discard_run(task, run_key).',
              SCHEMA = 'cs9', TABLE = 'run_table';
END;
$check_same_tables$;
COMMENT ON FUNCTION cs9.check_same_tables(cs9.run, integer[]) IS 'Refuses other tables or definitions than the first attempt''s';
