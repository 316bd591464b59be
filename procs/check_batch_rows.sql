-- Purpose: refuse a batch size that would not move anything.
-- Errors:  S9016.
CREATE FUNCTION cs9.check_batch_rows(p_batch_rows integer)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check_batch_rows$
#variable_conflict error
BEGIN
    IF p_batch_rows IS NULL OR p_batch_rows < 1 THEN
        RAISE EXCEPTION 'batch_rows is %', coalesce(p_batch_rows::text, 'null')
            USING ERRCODE = 'S9016',
                  DETAIL = 'It is how many rows one transaction moves.',
                  HINT = 'Pass 1 or more; 200000 is a good size.',
                  SCHEMA = 'cs9', TABLE = 'publish_step';
    END IF;
END;
$check_batch_rows$;
COMMENT ON FUNCTION cs9.check_batch_rows(integer) IS 'Refuses a batch size below 1';
