-- Purpose: turn an unfinished run over to a new attempt. The higher number shuts the old one out.
-- Contract: the caller holds the run's row. A run that was ready is running again, so that its plan 1 and last plan
--           can write; the index that proved each key to be there once would slow that down, and goes, as
--           does what was made for a swap. What was allowed
--           to a publish that has begun stays allowed.
-- Errors:  S9024 another session reads what was staged, and the index cannot go.
CREATE FUNCTION cs9.resume_run(p_run cs9.run, p_allow_empty boolean, p_owner text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $resume_run$
#variable_conflict error
DECLARE
    v_index text;
BEGIN
    UPDATE cs9.run AS r
    SET attempt = r.attempt + 1,
        state = CASE r.state WHEN 'ready' THEN 'running' ELSE r.state END,
        allow_empty = CASE r.state WHEN 'publishing' THEN r.allow_empty ELSE coalesce(p_allow_empty, false) END,
        owner = coalesce(p_owner, ''),
        attempt_at = clock_timestamp(),
        ready_at = NULL,
        error = NULL
    WHERE r.run_id = p_run.run_id;

    IF p_run.state = 'ready' THEN
        PERFORM cs9.lock_staged(t.run_id, t.table_id, 'ACCESS EXCLUSIVE')
        FROM (SELECT o.run_id, o.table_id FROM cs9.run_table AS o WHERE o.run_id = p_run.run_id ORDER BY o.table_id) AS t;
        PERFORM cs9.undo_preparation(p_run.run_id);
        FOR v_index IN
            SELECT i.indexrelid::regclass::text
            FROM cs9.run_table AS t
            CROSS JOIN LATERAL cs9.with_partitions(to_regclass(cs9.staged_label(t.run_id, t.table_id))) AS s (relation)
            JOIN pg_catalog.pg_index AS i ON i.indrelid = s.relation
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE t.run_id = p_run.run_id AND NOT c.relispartition
            ORDER BY t.table_id
        LOOP
            EXECUTE format('DROP INDEX %s', v_index);
        END LOOP;
    END IF;
END;
$resume_run$;
COMMENT ON FUNCTION cs9.resume_run(cs9.run, boolean, text) IS 'Gives an unfinished run to a new attempt';
