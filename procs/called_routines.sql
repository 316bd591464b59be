-- Purpose: which routines that are not PostgreSQL's own an expression calls, for people to read.
-- Contract: p_tree is an expression as the catalogue stores it, cast to text.
-- Returns: null when there is none.
CREATE FUNCTION cs9.called_routines(p_tree text)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $called_routines$
#variable_conflict error
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT r.id::regprocedure::text, ', ')
        FROM (
            SELECT f.match[1]::oid AS id FROM regexp_matches(p_tree, ':funcid ([0-9]+)', 'g') AS f (match)
            UNION ALL
            SELECT o.oprcode
            FROM regexp_matches(p_tree, ':opno ([0-9]+)', 'g') AS f (match)
            JOIN pg_catalog.pg_operator AS o ON o.oid = f.match[1]::oid
        ) AS r
        WHERE r.id >= 16384
    );
END;
$called_routines$;
COMMENT ON FUNCTION cs9.called_routines(text) IS 'The routines of users that a stored expression calls, or null';
