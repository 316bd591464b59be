-- Purpose: refuse a count that would not move anything.
-- Errors:  S9016.
CREATE FUNCTION cs9.check_count(p_name text, p_value integer, p_meaning text)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check_count$
#variable_conflict error
BEGIN
    IF p_value IS NULL OR p_value < 1 THEN
        RAISE EXCEPTION '% is %', p_name, coalesce(p_value::text, 'null')
            USING ERRCODE = 'S9016',
                  DETAIL = format('It is %s.', p_meaning),
                  HINT = 'Pass 1 or more, or leave it out.',
                  SCHEMA = 'cs9', TABLE = 'publish_step';
    END IF;
END;
$check_count$;
COMMENT ON FUNCTION cs9.check_count(text, integer, text) IS 'Refuses a count below 1';
