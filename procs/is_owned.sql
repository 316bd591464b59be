-- Purpose: does a session own the task? It asks until it knows: a CALL may be between two of its transactions, and may
--          have gone on since its row was read.
-- Contract: the caller has bounded its waits for locks. What is not known after that time is taken for false: a session whose state the asker may not see.
CREATE FUNCTION cs9.is_owned(p_task_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $is_owned$
#variable_conflict error
DECLARE
    v_until CONSTANT timestamptz := clock_timestamp() + coalesce(nullif(current_setting('lock_timeout'), '0'), '2s')::interval;
    v_task  cs9.task;
    v_seen  cs9.task;
    v_alive boolean;
BEGIN
    LOOP
        SELECT t.* INTO v_task FROM cs9.task AS t WHERE t.task_id = p_task_id;
        v_alive := cs9.owner_alive(v_task);
        EXIT WHEN v_alive OR clock_timestamp() > v_until;
        IF NOT v_alive THEN
            SELECT t.* INTO v_seen FROM cs9.task AS t WHERE t.task_id = p_task_id;
            EXIT WHEN v_seen IS NOT DISTINCT FROM v_task;
        END IF;
        PERFORM pg_sleep(0.002);
    END LOOP;
    RETURN coalesce(v_alive, false);
END;
$is_owned$;
COMMENT ON FUNCTION cs9.is_owned(integer) IS 'Whether a session owns the task, asked until it is certain';
