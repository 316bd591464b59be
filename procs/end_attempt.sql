-- Purpose: an attempt failed: keep its error for the views, and give the task back.
-- Contract: of an attempt that is over, and of a run that has ended, nothing is kept.
--          The error is for people: where the run's row is held for longer than cs9.lock_timeout, it is left.
-- Errors:  S9023; S9024 another session holds the task's row.
CREATE FUNCTION cs9.end_attempt(p_run_id bigint, p_attempt integer, p_error text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $end_attempt$
#variable_conflict error
BEGIN
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.assert_writable();
    BEGIN
        UPDATE cs9.run AS r
        SET error = p_error
        WHERE r.run_id = p_run_id AND r.attempt = p_attempt AND r.state IN ('running', 'ready', 'publishing');
    EXCEPTION
        WHEN lock_not_available THEN
            RAISE NOTICE 'why attempt % of run % failed is not recorded: a write of it is still in flight', p_attempt, p_run_id
                USING DETAIL = cs9.row_holders('cs9.run', format('run_id = %s', p_run_id));
    END;
    PERFORM cs9.release_run(t.task)
    FROM cs9.task AS t
    JOIN cs9.run AS r ON r.task_id = t.task_id
    WHERE r.run_id = p_run_id;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.end_attempt');
END;
$end_attempt$;
COMMENT ON FUNCTION cs9.end_attempt(bigint, integer, text) IS 'Keeps the error of a failed attempt, and gives the task back';
