-- Purpose: one batch of a move step: call the move function that was generated for the table, from the watermark on.
-- Returns: the next watermark, null after the last batch, and how many rows were moved.
-- Errors:  S9018 the staged table is gone or was rewritten, so that the watermark means nothing any more; S9022 a trigger
--          skipped a row.
CREATE FUNCTION cs9.move_batch(p_step cs9.publish_step, p_batch_rows integer, OUT watermark tid, OUT rows_moved bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $move_batch$
#variable_conflict error
DECLARE
    v_table    cs9.run_table;
    v_staged   text := cs9.staged_label(p_step.run_id, p_step.table_id);
    v_function text;
    v_found    bigint;
BEGIN
    SELECT t.* INTO STRICT v_table
    FROM cs9.run_table AS t
    WHERE t.run_id = p_step.run_id AND t.table_id = p_step.table_id;
    IF pg_relation_filenode(to_regclass(v_staged)) IS DISTINCT FROM v_table.staged_filenode THEN
        RAISE EXCEPTION 'the staged rows of run % for % were rewritten or dropped in the middle of the publish',
                        p_step.run_id, cs9.table_label(p_step.table_id)
            USING ERRCODE = 'S9018',
                  DETAIL = format('Table %s: VACUUM FULL, CLUSTER, ALTER TABLE, a restore or DROP TABLE moves rows, so that the watermark %s no longer says which are live.',
                                  coalesce(v_staged, '(dropped)'), p_step.watermark),
                  HINT = 'Discard the run with cs9.discard_run(task, run_key, true) and run the task with a new key that rebuilds the table.',
                  SCHEMA = 'cs9_staging', TABLE = coalesce(v_table.staged_name, '');
    END IF;

    SELECT format('%I.%I', d.schema_name, d.move_function) INTO STRICT v_function
    FROM cs9.table_definition AS d
    WHERE d.table_id = p_step.table_id;
    EXECUTE format('SELECT cs9_m.* FROM %s($1, $2, $3, $4, $5) AS cs9_m', v_function)
    INTO move_batch.watermark, v_found, move_batch.rows_moved
    USING v_staged, p_step.watermark, p_step.upto, p_batch_rows, v_table.rows_upserted > 0;
    PERFORM cs9.assert_none_skipped(to_regclass(cs9.table_label(p_step.table_id)), 'published', 4 | 16, v_found, move_batch.rows_moved);
END;
$move_batch$;
COMMENT ON FUNCTION cs9.move_batch(cs9.publish_step, integer) IS 'Moves one batch of staged rows, from the watermark on';
