-- Purpose: how to write what PostgreSQL prints, for it to print the same again. Some of its texts mean another tree when they
--          are read: `v IN (…)` over varchar prints as a cast of a list, which is read as a list of casts.
-- Returns: texts to try, the likeliest first. Whoever tries one looks at what it prints as.
CREATE FUNCTION cs9.readings(p_printed text)
RETURNS SETOF text
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $readings$
#variable_conflict error
BEGIN
    RETURN NEXT p_printed;
    IF position('])::text[]' IN p_printed) > 0 THEN
        RETURN NEXT replace(p_printed, '])::text[]', ']::character varying[])::text[]');
    END IF;
END;
$readings$;
COMMENT ON FUNCTION cs9.readings(text) IS 'Ways to write what PostgreSQL prints, for it to print the same again';
