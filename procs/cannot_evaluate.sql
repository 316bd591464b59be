-- Purpose: turn an error that something of the user's raised into S9013: what raises for a staged row now would stop the
--          publish in the middle.
-- Contract: p_subject is what raised; p_state, p_message and p_context are those of the error.
CREATE FUNCTION cs9.cannot_evaluate(p_table_id integer, p_subject text, p_state text, p_message text, p_context text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $cannot_evaluate$
#variable_conflict error
BEGIN
    PERFORM cs9.cannot_finish(p_table_id, format('%s fails: %s', p_subject, p_message),
        format('SQLSTATE %s under search_path %s%s.', p_state, cs9.table_path(p_table_id),
               coalesce(', in ' || cs9.calling_routine(p_context), '')),
        CASE WHEN p_state LIKE '42%' OR p_state = '3F000'
             THEN 'It may count on schemas that are not named: write search_path: into the definition of the table and generate, or ALTER FUNCTION … SET search_path.'
             ELSE 'Correct the rows, or what raises.'
        END);
END;
$cannot_evaluate$;
COMMENT ON FUNCTION cs9.cannot_evaluate(integer, text, text, text, text) IS 'Raises S9013 for an error that something of the user''s raised';
