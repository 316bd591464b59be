-- Purpose: the body of the loop of cs9.publish: do the next piece, in the transaction that the caller commits.
-- Returns: more, whether there is another piece; message and detail (JSON), what was done, null where another session
--          had the step; pause, how many seconds to wait before the next call; lock_waits, the tries that met a lock.
-- Contract: p_table null: all tables of the run. The piece that ends the call gives the task back; after an error the
--           CALL, and with it its claim, is over.
-- Locks:   the run's row, FOR SHARE, and the step's row, FOR UPDATE; what the piece needs on the live table. No lock is
--          waited for longer than cs9.lock_timeout (2 s); after cs9.lock_retries (5) tries, with pauses from
--          cs9.lock_backoff (500 ms) doubled to 30 s at most, the publish stops.
-- Errors:  S9003, S9005 the run is not publishing (any more); S9013 a write to an atomic or swap table came between;
--          S9017 the publish stopped at a lock and can be resumed; S9018 staged rows were rewritten; S9019 this
--          session does not own the task (any more); S9024 another session holds the task's row.
CREATE FUNCTION cs9.publish_next(
    p_run_id         bigint,
    p_table          text,
    p_batch_rows     integer,
    INOUT lock_waits integer,
    OUT more         boolean,
    OUT pause        double precision,
    OUT message      text,
    OUT detail       text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $publish_next$
#variable_conflict error
DECLARE
    v_table_id integer;
    v_run      cs9.run;
    v_step     cs9.publish_step;
    v_before   bigint;
BEGIN
    PERFORM cs9.assert_read_committed();
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.hold_task(p_run_id);
    IF p_table IS NOT NULL THEN
        v_table_id := cs9.find_table(p_table);
    END IF;

    BEGIN
        SELECT r.* INTO v_run FROM cs9.run AS r WHERE r.run_id = p_run_id FOR SHARE;
        -- a run that was discarded in the middle of its publish keeps the steps it had left, as a record only
        IF v_run.state <> 'published' THEN
            PERFORM cs9.assert_publishable(v_run);
        END IF;
        PERFORM cs9.check_settings();
        PERFORM cs9.use_settings(v_run.settings);
        SELECT s.* INTO v_step FROM cs9.next_step(p_run_id, v_table_id, true) AS s;
        IF v_step.state = 'taken' THEN
            PERFORM cs9.commit_here();
            more := true;
            RETURN;
        END IF;
        IF v_step.step IS NULL THEN
            more := false;
            PERFORM cs9.release_task(v_run.task_id);
            message := format('all steps of run %s for %s are done', p_run_id, p_table);
            detail := jsonb_build_object('run_id', p_run_id, 'table', p_table, 'done', true)::text;
            RETURN;
        END IF;
        v_before := v_step.rows_done;
        IF v_step.kind <> 'close' THEN
            PERFORM cs9.commit_here();
        END IF;
        v_step := cs9.run_step(v_step, p_batch_rows);
    EXCEPTION
        WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
            PERFORM cs9.commit_here();
            SELECT w.* INTO lock_waits, pause, message, detail
            FROM cs9.publish_blocked(p_run_id, v_step, lock_waits, SQLERRM) AS w;
            more := true;
            RETURN;
    END;

    lock_waits := 0;
    -- what comes behind the end of the run is of no weight
    more := (v_run.state <> 'published' AND v_step.kind <> 'close')
            OR EXISTS (SELECT FROM cs9.publish_step AS s WHERE s.run_id = p_run_id AND s.state = 'pending');
    IF NOT more THEN
        PERFORM cs9.release_task(v_run.task_id);
    END IF;
    SELECT d.* INTO message, detail FROM cs9.describe_step(v_step, v_step.rows_done - v_before) AS d;
END;
$publish_next$;
COMMENT ON FUNCTION cs9.publish_next(bigint, text, integer, integer) IS 'Does the next piece of a publish; called by cs9.publish, which commits';
