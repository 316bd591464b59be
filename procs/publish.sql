-- Purpose: publish a run that is ready, or resume a publish that stopped.
-- Contract: top level only, because it commits. One NOTICE a step or batch, its DETAIL is JSON. With movers > 1 the rows
--           of each batched table are split into as many ranges, and other sessions can take some of them:
--           CALL cs9.join_publish(task, run_key).
-- Settings: cs9.lock_timeout (2s), cs9.lock_retries (5), cs9.lock_backoff (500ms).
-- Errors:  those of cs9.publish_table.
CREATE PROCEDURE cs9.publish(task text, run_key text, batch_rows integer DEFAULT 200000, movers integer DEFAULT 1)
LANGUAGE plpgsql
AS $publish$
#variable_conflict error
BEGIN
    CALL cs9.publish_table(task, run_key, NULL::pg_catalog.text, batch_rows, movers);
END;
$publish$;
COMMENT ON PROCEDURE cs9.publish(text, text, integer, integer) IS 'Publishes a run that is ready, or resumes a publish that stopped; commits after each batch';
