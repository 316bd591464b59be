-- Purpose: what is stored here runs later as part of a DELETE, in another session: it must be one boolean expression over
--          the columns of the table, and what it means is decided now.
-- Contract: names are found by cs9.condition_path, whatever the caller's search_path.
-- Returns: PostgreSQL's own printing of the expression that it read with the settings of the caller. Every literal has its
--          type, dates are ISO and times UTC: whatever settings it is read with later, it says the same. 'now' and 'today'
--          are what they were when it was recorded.
-- How:     parsed twice, once in ( ) and once in [ ]: what closes the one bracket early breaks in the other. A cursor
--          takes one statement only. It sees the rows as a subquery, which has no system column. As the expression of a
--          generated column, PostgreSQL accepts no subquery, no aggregate and nothing that is not immutable; that column
--          is one of a table without storage that is undone at once, and holds 5,000 values as well as one.
--          The printing is read again with settings that are as unlike as can be, and must print as it did.
--          What it calls must be PostgreSQL's own, or belong to a superuser or to the owner of the cs9 schema: it runs
--          with that owner's rights.
-- Errors:  S9015, with the reason in DETAIL.
CREATE FUNCTION cs9.fix_condition(p_table_id integer, p_condition text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $fix_condition$
#variable_conflict error
DECLARE
    v_rows   CONSTANT text := cs9.rows_for_condition(p_table_id);
    v_cursor refcursor;
    v_fixed  text;
    v_again  text;
    v_reason text;
BEGIN
    BEGIN
        IF coalesce(p_condition, '') !~ E'\\S' THEN
            RAISE syntax_error USING MESSAGE = 'it is empty';
        END IF;
        PERFORM set_config('search_path', cs9.condition_path(p_table_id), true);
        OPEN v_cursor FOR EXECUTE format(E'SELECT FROM (%s) AS cs9_rows WHERE (%s\n) LIMIT 0', v_rows, p_condition);
        CLOSE v_cursor;
        OPEN v_cursor FOR EXECUTE format(E'SELECT FROM (%s) AS cs9_rows WHERE ARRAY[%s\n] IS NULL LIMIT 0', v_rows, p_condition);
        CLOSE v_cursor;
        PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
        v_fixed := cs9.print_condition(cs9.read_condition(p_table_id, 1, p_condition));
        v_reason := cs9.untrusted_call(cs9.condition_table());
        IF v_reason IS NOT NULL THEN
            RAISE invalid_object_definition USING MESSAGE = format('it calls %s, which belongs to another role', v_reason);
        END IF;
        IF cs9.has_null_operand(v_fixed) OR v_fixed LIKE '%NULL::%' AND cs9.has_null_operand(cs9.folded_condition(v_rows, v_fixed)) THEN
            RAISE invalid_object_definition USING MESSAGE = 'it compares with NULL, which is true for no row; write IS NULL or IS NOT NULL';
        END IF;

        v_again := cs9.print_condition(cs9.read_condition_elsewhere(p_table_id, 2, v_fixed));
        IF v_again <> v_fixed THEN
            -- what was cast as a whole is cast piece by piece once it was read again
            v_fixed := cs9.print_condition(cs9.read_condition(p_table_id, 3, v_fixed));
            v_again := cs9.print_condition(cs9.read_condition_elsewhere(p_table_id, 4, v_fixed));
        END IF;
        IF v_again <> v_fixed OR v_fixed LIKE '%::money%' THEN
            RAISE invalid_object_definition USING MESSAGE = 'a literal in it means something else with other settings, such as lc_monetary or xmloption';
        END IF;
        IF v_again = v_fixed THEN
            RAISE triggered_action_exception;
        END IF;
    EXCEPTION
        WHEN triggered_action_exception THEN
            RETURN v_fixed;  -- the table is undone
        WHEN syntax_error_or_access_rule_violation OR data_exception OR feature_not_supported
             OR invalid_cursor_definition OR statement_too_complex THEN
            v_reason := regexp_replace(replace(SQLERRM, 'generation expression is not immutable', 'functions in a condition must be marked IMMUTABLE'),
                                       'column generation expressions?', 'a condition');
    END;

    RAISE EXCEPTION 'this is no condition on %: %', cs9.table_label(p_table_id), coalesce(left(p_condition, 200), '(null)')
        USING ERRCODE = 'S9015',
              DETAIL = v_reason,
              HINT = 'Write one boolean expression over the columns of the table, with literals, immutable functions only and no subquery; names outside pg_catalog need their schema.',
              SCHEMA = (SELECT d.schema_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id),
              TABLE = (SELECT d.table_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
END;
$fix_condition$;
COMMENT ON FUNCTION cs9.fix_condition(integer, text) IS 'The condition as PostgreSQL prints it, which says the same in every session; refuses what is none';
