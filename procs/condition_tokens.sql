-- Purpose: the literals and quoted names of a printed condition, and what is between them, in order.
CREATE FUNCTION cs9.condition_tokens(p_printed text)
RETURNS TABLE (n bigint, token text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $condition_tokens$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT m.ordinality, m.found[1]
    FROM regexp_matches(p_printed, '''(?:[^'']|'''')*''|"(?:[^"]|"")*"|[^''"]+', 'g') WITH ORDINALITY AS m (found, ordinality);
END;
$condition_tokens$;
COMMENT ON FUNCTION cs9.condition_tokens(text) IS 'The literals and quoted names of a printed condition, and what is between them';
