-- Purpose: publish a run that is ready, or resume a publish that stopped.
-- Contract: top level only, because it commits. One NOTICE a step or batch, its DETAIL is JSON.
-- Settings: cs9.lock_timeout (2s), cs9.lock_retries (5), cs9.lock_backoff (500ms).
-- Errors:  those of cs9.publish_table.
CREATE PROCEDURE cs9.publish(task text, run_key text, batch_rows integer DEFAULT 200000)
LANGUAGE plpgsql
AS $publish$
#variable_conflict error
BEGIN
    CALL cs9.publish_table(task, run_key, NULL::pg_catalog.text, batch_rows);
END;
$publish$;
COMMENT ON PROCEDURE cs9.publish(text, text, integer) IS 'Publishes a run that is ready, or resumes a publish that stopped; commits after each batch';
