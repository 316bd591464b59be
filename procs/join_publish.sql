-- Purpose: help with a publish that another session runs: move ranges of its batched tables, until none is left.
-- Contract: top level only, because it commits after each batch. When the other session ends, so does this one, with
--           what it moved committed. A run that is ready, with its owner alive, is waited for.
-- Errors:  2D000 inside a transaction; those of cs9.join_next.
CREATE PROCEDURE cs9.join_publish(task text, run_key text, batch_rows integer DEFAULT 200000)
LANGUAGE plpgsql
AS $join_publish$
#variable_conflict error
DECLARE
    v_more    boolean;
    v_pause   double precision;
    v_message text;
    v_detail  text;
BEGIN
    CALL cs9.must_be_called_outside_a_transaction();
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    LOOP
        SELECT n.more, n.pause, n.message, n.detail
        INTO v_more, v_pause, v_message, v_detail
        FROM cs9.join_next(task, run_key, batch_rows) AS n;
        COMMIT;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        EXIT WHEN NOT v_more;
        IF v_message IS NOT NULL THEN
            RAISE NOTICE USING MESSAGE = v_message, DETAIL = v_detail;
        END IF;
        IF v_pause IS NOT NULL THEN
            PERFORM pg_catalog.pg_sleep(v_pause);
        END IF;
    END LOOP;
END;
$join_publish$;
COMMENT ON PROCEDURE cs9.join_publish(text, text, integer) IS 'Helps with a publish that another session runs';
