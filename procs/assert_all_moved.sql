-- Purpose: when the last move of a table has ended, the rows that all its moves moved must be those that were proved. A dump that
--          was taken in between, or staged rows that changed, would otherwise end as published with rows missing.
-- Contract: p_table_id null: all tables of the run, at its end.
-- Errors:  S9018.
CREATE FUNCTION cs9.assert_all_moved(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $assert_all_moved$
#variable_conflict error
DECLARE
    v_table record;
BEGIN
    SELECT t.table_id, t.staged_name, t.rows_inserted + t.rows_upserted AS proved, m.moved INTO v_table
    FROM cs9.run_table AS t
    CROSS JOIN LATERAL (
        SELECT sum(s.rows_done) AS moved, bool_or(s.state = 'pending') AS is_pending
        FROM cs9.publish_step AS s
        WHERE s.run_id = t.run_id AND s.table_id = t.table_id AND s.kind = 'move'
    ) AS m
    WHERE t.run_id = p_run_id
      AND (p_table_id IS NULL OR t.table_id = p_table_id)
      AND t.publish_mode = 'batched'
      AND NOT coalesce(m.is_pending, false)
      AND coalesce(m.moved, 0) <> t.rows_inserted + t.rows_upserted
    ORDER BY t.table_id
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'run % moved % rows into %, and proved %', p_run_id, coalesce(v_table.moved, 0), cs9.table_label(v_table.table_id), v_table.proved
            USING ERRCODE = 'S9018',
                  DETAIL = format('Table cs9_staging.%I does not hold what was proved: it was changed or restored in the middle of the publish.', v_table.staged_name),
                  HINT = 'Discard the run with cs9.discard_run(task, run_key, true) and run the task with a new key that rebuilds the table.',
                  SCHEMA = 'cs9_staging', TABLE = coalesce(v_table.staged_name, '');
    END IF;
END;
$assert_all_moved$;
COMMENT ON FUNCTION cs9.assert_all_moved(bigint, integer) IS 'Fails unless the rows that were moved are those that were proved';
