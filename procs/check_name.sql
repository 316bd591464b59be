-- Purpose: refuse a task name or run key that could not be kept as it is.
-- Errors:  S9016 when it is null, empty, blank or over 1,000 bytes.
CREATE FUNCTION cs9.check_name(p_what text, p_value text)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check_name$
#variable_conflict error
BEGIN
    IF p_value IS NULL OR p_value !~ '[^[:space:]]' THEN
        RAISE EXCEPTION 'the % is empty', p_what
            USING ERRCODE = 'S9016',
                  DETAIL = 'It names the run, so that a later attempt can find it.',
                  HINT = format('Pass a %s of 1 to 1000 bytes.', p_what),
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
    IF octet_length(p_value) > 1000 THEN
        RAISE EXCEPTION 'the % has % bytes', p_what, octet_length(p_value)
            USING ERRCODE = 'S9016',
                  DETAIL = format('It begins with %L.', left(p_value, 60)),
                  HINT = format('Pass a %s of 1 to 1000 bytes.', p_what),
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
END;
$check_name$;
COMMENT ON FUNCTION cs9.check_name(text, text) IS 'Refuses an empty or overlong task name or run key';
