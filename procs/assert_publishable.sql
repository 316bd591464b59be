-- Purpose: only a run that is ready, or whose publish stopped, can be published.
-- Errors:  S9003 not ready, S9004 published, S9005 discarded: errors, never notices.
CREATE FUNCTION cs9.assert_publishable(p_run cs9.run)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_publishable$
#variable_conflict error
BEGIN
    IF p_run.state NOT IN ('ready', 'publishing') THEN
        RAISE EXCEPTION 'run % cannot be published: it is %', quote_literal(p_run.run_key), p_run.state
            USING ERRCODE = CASE p_run.state WHEN 'published' THEN 'S9004' WHEN 'discarded' THEN 'S9005' ELSE 'S9003' END,
                  DETAIL = CASE p_run.state
                      WHEN 'running' THEN format('%s of its %s plans are done.', (
                          SELECT count(*) FROM cs9.plan AS p WHERE p.run_id = p_run.run_id AND p.state = 'done'), p_run.plans)
                      ELSE format('It ended at %s.', p_run.ended_at)
                  END,
                  HINT = CASE p_run.state
                      WHEN 'running' THEN 'Run the rest of its plans and call cs9.finish_run; the live tables are untouched.'
                      WHEN 'published' THEN 'There is nothing to do. To do it over, begin it with p_again.'
                      ELSE 'Begin a new run.'
                  END,
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
END;
$assert_publishable$;
COMMENT ON FUNCTION cs9.assert_publishable(cs9.run) IS 'Fails unless the run is ready or publishing';
