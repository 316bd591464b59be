-- Purpose: the one place that says which live rows a delete removes, as a boolean expression that is never null.
CREATE FUNCTION cs9.deleted_rows(p_kind text, p_condition text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $deleted_rows$
#variable_conflict error
BEGIN
    RETURN CASE p_kind
        WHEN 'all' THEN 'true'
        WHEN 'where' THEN format(E'(%s\n) IS TRUE', p_condition)
        WHEN 'keep' THEN format(E'(%s\n) IS NOT TRUE', p_condition)
    END;
END;
$deleted_rows$;
COMMENT ON FUNCTION cs9.deleted_rows(text, text) IS 'Expression that is true for the live rows that a delete removes';
