-- Purpose: the run that (task, run key) names: the current one, or else the last that was discarded.
-- Errors:  S9002.
CREATE FUNCTION cs9.find_run(p_task text, p_run_key text)
RETURNS cs9.run
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $find_run$
#variable_conflict error
DECLARE
    v_run cs9.run;
BEGIN
    SELECT r.* INTO v_run
    FROM cs9.run AS r
    JOIN cs9.task AS t ON t.task_id = r.task_id
    WHERE t.task = p_task AND r.run_key = p_run_key
    ORDER BY r.is_current DESC, r.run_id DESC
    LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no run % of task %', quote_nullable(p_run_key), quote_nullable(p_task)
            USING ERRCODE = 'S9002',
                  DETAIL = 'No attempt with this task and run key ever began in this database.',
                  HINT = 'SELECT task, run_key, state FROM cs9.run_status lists the runs.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    RETURN v_run;
END;
$find_run$;
COMMENT ON FUNCTION cs9.find_run(text, text) IS 'The run that a task and a run key name';
