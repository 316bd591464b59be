-- Purpose: run a query that evaluates something of the user's (a check, an index expression) over staged rows, in the
--          environment in which the publish will run: with the table's search_path and the rights of the publish.
-- Contract: p_query gives one number; p_subject says what it evaluates, for the message.
-- Errors:  S9013 when it raises. What speaks of the server and not of the rows passes as it is: locks, memory, a cancel.
CREATE FUNCTION cs9.evaluate(p_table_id integer, p_query text, p_subject text)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $evaluate$
#variable_conflict error
DECLARE
    v_number  bigint;
    v_context text;
BEGIN
    PERFORM set_config('search_path', cs9.table_path(p_table_id), true);
    EXECUTE p_query INTO v_number;
    RETURN v_number;
EXCEPTION
    WHEN lock_not_available OR transaction_rollback OR insufficient_resources OR operator_intervention OR system_error THEN
        RAISE;
    WHEN assert_failure OR OTHERS THEN
        IF SQLSTATE LIKE 'S9%' THEN
            RAISE;
        END IF;
        GET STACKED DIAGNOSTICS v_context = PG_EXCEPTION_CONTEXT;
        PERFORM cs9.cannot_evaluate(p_table_id, p_subject, SQLSTATE, SQLERRM, v_context);
        RETURN NULL;
END;
$evaluate$;
COMMENT ON FUNCTION cs9.evaluate(integer, text, text) IS 'Runs a query over staged rows as the publish would evaluate it';
