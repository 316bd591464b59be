-- Purpose: the one place that says which live rows a delete removes, as a boolean expression: true for them, false or null for all
--          others. Where rows are meant that stay, ask whether it IS NOT TRUE; where it stands by itself, an index serves it.
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
        WHEN 'where' THEN format(E'(%s\n)', p_condition)
        WHEN 'keep' THEN format(E'(%s\n) IS NOT TRUE', p_condition)
    END;
END;
$deleted_rows$;
COMMENT ON FUNCTION cs9.deleted_rows(text, text) IS 'Expression that is true for the live rows that a delete removes';
