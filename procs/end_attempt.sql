-- Purpose: an attempt failed: keep its error for the views, and give the task back.
-- Contract: of an attempt that is over, and of a run that has ended, nothing is kept.
-- Errors:  S9023.
CREATE FUNCTION cs9.end_attempt(p_run_id bigint, p_attempt integer, p_error text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_attempt$
#variable_conflict error
BEGIN
    PERFORM cs9.assert_writable();
    UPDATE cs9.run AS r
    SET error = p_error
    WHERE r.run_id = p_run_id AND r.attempt = p_attempt AND r.state IN ('running', 'ready', 'publishing');
    PERFORM cs9.release_run(t.task)
    FROM cs9.task AS t
    JOIN cs9.run AS r ON r.task_id = t.task_id
    WHERE r.run_id = p_run_id;
END;
$end_attempt$;
COMMENT ON FUNCTION cs9.end_attempt(bigint, integer, text) IS 'Keeps the error of a failed attempt, and gives the task back';
