-- Purpose: lock what a run staged for a table before it is changed, within a bounded wait; who is in the way is named.
-- Locks:   the run's own table, with its partitions, in the mode p_mode. Waits as long as all tries of a publish together
--          (cs9.lock_timeout, cs9.lock_retries): nobody else needs the table, so that nobody queues up behind. A COPY of
--          an earlier attempt that has not come to the fence is given the time to notice that its client has gone.
-- Errors:  S9024 when another session holds a lock on it.
CREATE FUNCTION cs9.lock_staged(p_run_id bigint, p_table_id integer, p_mode text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $lock_staged$
#variable_conflict error
DECLARE
    v_staged CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_wait   text;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    PERFORM cs9.bound_lock_wait(true);
    v_wait := current_setting('lock_timeout');
    EXECUTE format('LOCK TABLE %s IN %s MODE', v_staged, p_mode);
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'another session holds a lock on %, where run % staged its rows', v_staged, p_run_id
            USING ERRCODE = 'S9024',
                  DETAIL = format('After %s: %s.', v_wait, cs9.lock_holders(to_regclass(v_staged))),
                  HINT = 'Try again when it has ended.',
                  SCHEMA = 'cs9_staging', TABLE = (SELECT t.staged_name FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = p_table_id);
END;
$lock_staged$;
COMMENT ON FUNCTION cs9.lock_staged(bigint, integer, text) IS 'Locks what a run staged for a table, within a bounded wait';
