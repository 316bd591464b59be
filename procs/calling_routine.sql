-- Purpose: the routine of a user in which an error was raised: the first of its context that is not one of cs9gen's.
-- Contract: p_context is the context of the error, as PG_EXCEPTION_CONTEXT gives it.
-- Returns: what PostgreSQL calls it and the line of its body; null when the error was raised outside of such routines.
CREATE FUNCTION cs9.calling_routine(p_context text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $calling_routine$
#variable_conflict error
BEGIN
    RETURN substring(p_context FROM '((?:PL/[[:alnum:]]+|SQL) function (?!cs9[.])[^' || chr(10) || ']*)');
END;
$calling_routine$;
COMMENT ON FUNCTION cs9.calling_routine(text) IS 'The routine of a user in which an error was raised';
