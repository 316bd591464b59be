-- Purpose: publish a run, or resume its publish: all its tables, or (p_table) one of them. The run ends with its last
--          table.
-- Contract: top level only, because it commits: after it owns the task, after the steps are recorded, after each step,
--           after each batch. What is
--          committed stays; a publish that stops goes on from there at the next call. Unqualified names are
--          keywords: the procedure has no search_path of its own, since that would forbid COMMIT.
--          READ COMMITTED, whatever the session's default is: what a lock was waited for must be seen behind it.
-- Locks:   none of the session: the CALL owns the task by its transactions (cs9.claim_publish), whatever ends it.
-- Errors:  2D000 inside a transaction; those of cs9.claim_publish, cs9.begin_publish and cs9.publish_next.
CREATE PROCEDURE cs9.publish_table(p_task text, p_run_key text, p_table text, p_batch_rows integer, p_movers integer)
LANGUAGE plpgsql
AS $publish_table$
#variable_conflict error
DECLARE
    v_run_id  bigint;
    v_waits   integer := 0;
    v_more    boolean;
    v_pause   double precision;
    v_message text;
    v_detail  text;
BEGIN
    CALL cs9.must_be_called_outside_a_transaction();
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    PERFORM cs9.claim_publish(p_task, p_run_key, p_batch_rows, p_movers);
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    v_run_id := cs9.begin_publish(p_task, p_run_key, p_table, p_batch_rows, p_movers);
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

    LOOP
        SELECT n.lock_waits, n.more, n.pause, n.message, n.detail
        INTO v_waits, v_more, v_pause, v_message, v_detail
        FROM cs9.publish_next(v_run_id, p_table, p_batch_rows, v_waits) AS n;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        IF v_message IS NOT NULL THEN
            RAISE NOTICE USING MESSAGE = v_message, DETAIL = v_detail;
        END IF;
        EXIT WHEN NOT v_more;
        IF v_pause IS NOT NULL THEN
            PERFORM pg_catalog.pg_sleep(v_pause);
        END IF;
    END LOOP;
END;
$publish_table$;
COMMENT ON PROCEDURE cs9.publish_table(text, text, text, integer, integer) IS 'Publishes one table of a run, or all of them; commits after each batch';
