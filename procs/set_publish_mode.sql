-- Purpose: for one run, publish a table (p_table), or all its tables, in another mode than the definition says.
-- Contract: until the publish has begun.
-- Errors:  S9002 unknown run; S9003 it is publishing; S9004 published; S9005 discarded; S9009 not a table of the run;
--          S9010 unknown table; S9016 the mode cannot be used; S9023 nothing can be written here; S9024 a lock was not had.
CREATE FUNCTION cs9.set_publish_mode(p_task text, p_run_key text, p_mode text, p_table text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $set_publish_mode$
#variable_conflict error
DECLARE
    v_run      cs9.run;
    v_table_id integer;
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    PERFORM cs9.assert_writable();
    PERFORM cs9.assert_read_committed();
    v_run := cs9.find_run(p_task, p_run_key);
    PERFORM cs9.assert_role(cs9.run_tables(v_run.run_id), 'publisher');
    IF p_table IS NOT NULL THEN
        v_table_id := cs9.find_table(p_table);
        PERFORM cs9.assert_run_table(v_run.run_id, v_table_id);
    END IF;
    v_run := cs9.lock_run(p_task, v_run.run_id);
    IF v_run.state NOT IN ('running', 'ready') THEN
        RAISE EXCEPTION 'the publish mode of run % cannot be changed: it is %', quote_literal(p_run_key), v_run.state
            USING ERRCODE = CASE v_run.state WHEN 'published' THEN 'S9004' WHEN 'discarded' THEN 'S9005' ELSE 'S9003' END,
                  DETAIL = 'The steps of its publish are recorded already.',
                  HINT = 'Change the mode before the publish begins.',
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    PERFORM cs9.change_publish_mode(v_run.run_id, t.table_id, p_mode)
    FROM cs9.run_table AS t
    WHERE t.run_id = v_run.run_id AND (v_table_id IS NULL OR t.table_id = v_table_id);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.set_publish_mode');
END;
$set_publish_mode$;
COMMENT ON FUNCTION cs9.set_publish_mode(text, text, text, text) IS 'Publishes a run, or one of its tables, in another mode than the definition says';
