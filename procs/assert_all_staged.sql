-- Purpose: what was proved is what will be published: as many staged rows as cs9.finish_run counted. A dump can keep the tables
--          and leave their rows out.
-- Errors:  S9018.
CREATE FUNCTION cs9.assert_all_staged(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_all_staged$
#variable_conflict error
DECLARE
    v_table record;
    v_rows  bigint;
BEGIN
    FOR v_table IN
        SELECT t.table_id, t.staged_name, t.rows_inserted + t.rows_upserted AS rows_proved
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.staged_name IS NOT NULL
        ORDER BY t.table_id
    LOOP
        EXECUTE format('SELECT count(*) FROM cs9_staging.%I', v_table.staged_name) INTO v_rows;
        IF v_rows IS DISTINCT FROM v_table.rows_proved THEN
            RAISE EXCEPTION 'run % has % staged rows for %, where % were proved', p_run_id, v_rows, cs9.table_label(v_table.table_id), v_table.rows_proved
                USING ERRCODE = 'S9018',
                      DETAIL = format('The rows of cs9_staging.%I changed since, or the database was restored from a dump without them.', v_table.staged_name),
                      HINT = 'It has published nothing: discard the run with cs9.discard_run(task, run_key), and run the task again with this key.',
                      SCHEMA = 'cs9_staging', TABLE = v_table.staged_name;
        END IF;
    END LOOP;
END;
$assert_all_staged$;
COMMENT ON FUNCTION cs9.assert_all_staged(bigint) IS 'Fails with S9018 unless the staged rows of a run are as many as were proved';
