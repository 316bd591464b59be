-- Purpose: drop what ended runs have left in cs9_staging because another session was at it then. Called by whatever
--          begins or ends a run.
-- Contract: waits for nothing. What is still held stays, for the next call.
CREATE FUNCTION cs9.drop_leftovers()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $drop_leftovers$
#variable_conflict error
DECLARE
    v_table record;
    v_name  name;
BEGIN
    FOR v_table IN
        SELECT t.run_id, t.table_id, t.retired_names
        FROM cs9.run_table AS t
        JOIN cs9.run AS r ON r.run_id = t.run_id
        WHERE t.retired_names <> '{}' AND r.state IN ('published', 'discarded')
        FOR UPDATE OF t SKIP LOCKED
    LOOP
        FOREACH v_name IN ARRAY v_table.retired_names LOOP
            IF cs9.drop_unless_held(v_name, false) THEN
                UPDATE cs9.run_table AS t
                SET retired_names = array_remove(t.retired_names, v_name)
                WHERE t.run_id = v_table.run_id AND t.table_id = v_table.table_id;
            END IF;
        END LOOP;
    END LOOP;
END;
$drop_leftovers$;
COMMENT ON FUNCTION cs9.drop_leftovers() IS 'Drops what ended runs have left in cs9_staging';
