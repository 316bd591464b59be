-- Purpose: begin an attempt of a run.
-- Returns: outcome
--   'new'            the run key was free: run all plans
--   'resumed'        an earlier attempt failed: run plan 1, what is unfinished, and the last plan
--   'publish'        the run was publishing: CALL cs9.publish(task, run_key), run no plan
--   'publish_older'  another run of the task is ready or was publishing: CALL cs9.publish(task, publish_key), then
--                    begin again
--   'published'      nothing to do; the run's end is never repeated without p_again
-- Contract: p_publish_mode: publish all tables of this run in this mode, instead of each as its definition says.
--           On 'published' the task is given back; otherwise this session owns it until the run is published or
--           discarded, cs9.end_attempt or cs9.release_run is called, or the session ends. An error or a rollback
--           leaves the task as it was.
-- Locks:   the registration of each table, FOR KEY SHARE: a migration that changes one is waited for;
--          those of cs9.claim_task; the run's row, FOR UPDATE: this waits for writes of an earlier
--          attempt that are still in flight, and shuts out its later ones. Nothing is waited for longer than
--          cs9.lock_timeout.
-- Errors:  S9001 another session owns the task; S9003 an older run is ready, and the login may not publish it; S9008 plan
--          list changed; S9009 tables changed; S9010 unknown table; S9016 bad argument, or the transaction is not
--          READ COMMITTED; S9018 what it staged is gone; S9024 a lock was not had; S9023 nothing can be
--          written here; 42501 the login may not run this.
CREATE FUNCTION cs9.begin_run(
    p_task          text,
    p_run_key       text,
    p_tables        text[],
    p_plans         jsonb,
    p_today         date    DEFAULT CURRENT_DATE,
    p_allow_empty   boolean DEFAULT false,
    p_again         boolean DEFAULT false,
    p_owner         text    DEFAULT '',
    p_publish_mode  text    DEFAULT NULL,
    OUT outcome     text,
    OUT run_id      bigint,
    OUT attempt     integer,
    OUT today       date,
    OUT publish_key text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $begin_run$
#variable_conflict error
DECLARE
    v_table_ids integer[];
    v_task_id   integer;
    v_run       cs9.run;
BEGIN
    PERFORM cs9.assert_writable();
    PERFORM cs9.assert_read_committed();
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.check_name('task', p_task);
    PERFORM cs9.check_name('run key', p_run_key);
    PERFORM cs9.check_plans(p_plans);
    v_table_ids := cs9.find_tables(p_tables);
    PERFORM cs9.hold_tables(v_table_ids);
    PERFORM cs9.assert_role(v_table_ids, 'runner');

    v_task_id := cs9.claim_task(p_task);
    SELECT r.* INTO v_run
    FROM cs9.run AS r
    WHERE r.task_id = v_task_id AND r.run_key = p_run_key AND r.is_current;
    -- a no-op, for the other runs of the task too: they are neither discarded nor published for it
    IF v_run.state = 'published' AND NOT coalesce(p_again, false) THEN
        outcome := 'published';
        run_id := v_run.run_id;
        attempt := v_run.attempt;
        today := v_run.today;
        PERFORM cs9.release_task(v_task_id);
        RETURN;
    END IF;

    PERFORM cs9.drop_leftovers();
    publish_key := cs9.retire_older_runs(p_task, v_task_id, p_run_key);
    IF publish_key IS NOT NULL THEN
        outcome := 'publish_older';
        RETURN;
    END IF;

    IF v_run.run_id IS NOT NULL THEN
        v_run := cs9.lock_run(p_task, v_run.run_id);
    END IF;
    IF v_run.run_id IS NULL OR v_run.state = 'published' THEN
        UPDATE cs9.run AS r SET is_current = false WHERE r.run_id = v_run.run_id;
        outcome := 'new';
        run_id := cs9.insert_run(v_task_id, p_run_key, v_table_ids, p_plans, coalesce(p_today, CURRENT_DATE),
                                 p_allow_empty, p_owner);
    ELSE
        PERFORM cs9.check_same_plans(v_run, p_plans);
        PERFORM cs9.check_same_tables(v_run, v_table_ids);
        PERFORM cs9.assert_staged(v_run.run_id);
        outcome := CASE v_run.state WHEN 'publishing' THEN 'publish' ELSE 'resumed' END;
        run_id := v_run.run_id;
        PERFORM cs9.resume_run(v_run, p_allow_empty, p_owner);
    END IF;

    IF p_publish_mode IS NOT NULL AND outcome <> 'publish' THEN
        PERFORM cs9.change_publish_mode(begin_run.run_id, t.table_id, p_publish_mode)
        FROM cs9.run_table AS t
        WHERE t.run_id = begin_run.run_id;
    END IF;

    SELECT r.attempt, r.today INTO begin_run.attempt, begin_run.today
    FROM cs9.run AS r
    WHERE r.run_id = begin_run.run_id;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.begin_run');
END;
$begin_run$;
COMMENT ON FUNCTION cs9.begin_run(text, text, text[], jsonb, date, boolean, boolean, text, text)
    IS 'Begins an attempt of a run: new, resumed, publish, publish_older or published';
