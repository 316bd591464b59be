-- Purpose: do to one row what a step of the publish will do, to see what the triggers of the table say, and take it back.
-- How:     in a subtransaction that is rolled back: rows, notifications, settings and locks are as before. What a trigger does
--          outside of transactions stays: numbers drawn from a sequence, a lock of the session, another server.
-- Contract: p_place, if given, makes place for the row first.
-- Returns: done; or unknown, when a row or constraint stood against it, which the real step would not meet, or when a trigger that
--          looks at all rows together did not like the one.
-- Errors:  S9013 when a trigger raises or skips the row.
CREATE FUNCTION cs9.try_step(p_table_id integer, p_triggers text, p_place text, p_statement text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $try_step$
#variable_conflict error
DECLARE
    v_subject CONSTANT text := format('what one of its triggers (%s) does, tried with one row,', p_triggers);
    v_is_over boolean := false;
    v_rows    bigint;
    v_context text;
BEGIN
    BEGIN
        PERFORM set_config('search_path', cs9.table_path(p_table_id), true);
        IF p_place IS NOT NULL THEN
            EXECUTE p_place;
        END IF;
        EXECUTE p_statement;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        SET CONSTRAINTS ALL IMMEDIATE;
        v_is_over := true;
        RAISE triggered_action_exception;
    EXCEPTION
        WHEN lock_not_available OR transaction_rollback OR insufficient_resources OR operator_intervention OR system_error THEN
            RAISE;
        WHEN assert_failure OR OTHERS THEN
            GET STACKED DIAGNOSTICS v_context = PG_EXCEPTION_CONTEXT;
            IF NOT v_is_over AND SQLSTATE LIKE '23%' AND cs9.calling_routine(v_context) IS NULL THEN
                RETURN 'unknown';
            ELSIF NOT v_is_over AND SQLSTATE NOT LIKE '42%' AND SQLSTATE <> '3F000' AND cs9.sees_other_rows(to_regclass(cs9.table_label(p_table_id)), v_context) THEN
                RETURN 'unknown';
            ELSIF NOT v_is_over THEN
                PERFORM cs9.cannot_evaluate(p_table_id, v_subject, SQLSTATE, SQLERRM, v_context);
            END IF;
    END;
    IF v_rows = 0 AND p_statement NOT LIKE 'TRUNCATE %' THEN
        PERFORM cs9.cannot_finish(p_table_id, format('one of its triggers (%s) skips rows', p_triggers),
            'A row was tried and taken back, and nothing had happened to it.',
            'Let the trigger return the row, or disable it, or stage no such rows.');
    END IF;
    RETURN 'done';
END;
$try_step$;
COMMENT ON FUNCTION cs9.try_step(integer, text, text, text) IS 'Does to one row what a step will do, and takes it back';
