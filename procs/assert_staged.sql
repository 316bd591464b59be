-- Purpose: what the run staged, and has not published yet, must be there. A dump can leave it out, and a person can drop it.
-- Errors:  S9018.
CREATE FUNCTION cs9.assert_staged(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_staged$
#variable_conflict error
DECLARE
    v_lost record;
BEGIN
    SELECT t.table_id, t.staged_name, r.state, r.run_key INTO v_lost
    FROM cs9.run_table AS t
    JOIN cs9.run AS r ON r.run_id = t.run_id
    WHERE t.run_id = p_run_id
      AND t.staged_name IS NOT NULL
      AND to_regclass(format('cs9_staging.%I', t.staged_name)) IS NULL
      AND (r.state <> 'publishing' OR EXISTS (
              SELECT
              FROM cs9.publish_step AS s
              WHERE s.run_id = t.run_id
                AND s.state = 'pending'
                AND (s.kind = 'move' AND s.table_id = t.table_id OR s.kind = 'apply' AND t.publish_mode <> 'batched')))
    ORDER BY t.table_id
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the staged rows of run % for % are gone', quote_literal(v_lost.run_key), cs9.table_label(v_lost.table_id)
            USING ERRCODE = 'S9018',
                  DETAIL = format('The table cs9_staging.%I is not there: it was dropped, or the database was restored from a dump without it.', v_lost.staged_name),
                  HINT = CASE v_lost.state
                      WHEN 'publishing' THEN 'Its publish has begun, so that a part may be live: discard the run with cs9.discard_run(task, run_key, true), and run the task with a new key that rebuilds the table.'
                      ELSE 'It has published nothing: discard the run with cs9.discard_run(task, run_key), and run the task again with this key.'
                  END,
                  SCHEMA = 'cs9_staging', TABLE = v_lost.staged_name;
    END IF;
END;
$assert_staged$;
COMMENT ON FUNCTION cs9.assert_staged(bigint) IS 'Fails with S9018 when the staged rows of a run are gone';
