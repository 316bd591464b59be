-- Purpose: what is stored here runs later as part of a DELETE, so that it must be one boolean expression over the
--          columns of the table, and mean the same whenever it runs.
-- How:     parsed twice, once in ( ) and once in [ ]: what closes the one bracket early breaks in the other. A cursor
--          takes one statement only. As the predicate of an index, PostgreSQL accepts no subquery, no aggregate and
--          nothing that is not immutable. The index on the empty template is undone at once.
--          What it calls must be PostgreSQL's own, or belong to a superuser or to the owner of the cs9 schema: it runs
--          with that owner's rights.
-- Errors:  S9015, with PostgreSQL's reason in DETAIL.
CREATE FUNCTION cs9.check_condition(p_table_id integer, p_condition text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_condition$
#variable_conflict error
DECLARE
    v_template text;
    v_cursor   refcursor;
    v_reason   text;
BEGIN
    SELECT format('%I.%I', d.schema_name, d.staging_name) INTO STRICT v_template
    FROM cs9.table_definition AS d
    WHERE d.table_id = p_table_id;

    BEGIN
        IF coalesce(p_condition, '') !~ '[^[:space:]]' THEN
            RAISE syntax_error USING MESSAGE = 'it is empty';
        END IF;
        IF p_condition ~* '[[:<:]]cs9_(run|plan|op)[[:>:]]' THEN
            RAISE undefined_column USING MESSAGE = 'it names a control column of the staged rows, which live rows do not have';
        END IF;
        OPEN v_cursor FOR EXECUTE format(E'SELECT FROM %s WHERE (%s\n) LIMIT 0', v_template, p_condition);
        CLOSE v_cursor;
        OPEN v_cursor FOR EXECUTE format(E'SELECT FROM %s WHERE ARRAY[%s\n] IS NULL LIMIT 0', v_template, p_condition);
        CLOSE v_cursor;
        EXECUTE format(E'CREATE INDEX ON %s ((1)) WHERE (%s\n)', v_template, p_condition);
        v_reason := cs9.untrusted_call(v_template);
        IF v_reason IS NOT NULL THEN
            RAISE invalid_object_definition USING MESSAGE = format('it calls %s, which belongs to another role', v_reason);
        END IF;
        IF v_reason IS NULL THEN
            RAISE triggered_action_exception;
        END IF;
    EXCEPTION
        WHEN triggered_action_exception THEN
            RETURN;  -- the index is undone
        WHEN syntax_error_or_access_rule_violation OR data_exception OR feature_not_supported
             OR invalid_cursor_definition OR statement_too_complex THEN
            v_reason := replace(SQLERRM, 'index predicate', 'a condition');
    END;

    RAISE EXCEPTION 'this is no condition on %: %', cs9.table_label(p_table_id), coalesce(left(p_condition, 200), '(null)')
        USING ERRCODE = 'S9015',
              DETAIL = v_reason,
              HINT = 'Write one boolean expression over the columns of the table, with literals, immutable functions only and no subquery; names outside pg_catalog need their schema.',
              SCHEMA = (SELECT d.schema_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id),
              TABLE = (SELECT d.table_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
END;
$check_condition$;
COMMENT ON FUNCTION cs9.check_condition(integer, text) IS 'Refuses what is not one immutable boolean expression over the columns of the table';
