-- Purpose: whether an expression gives the same for the same row under any search_path and any settings: it is made of
--          columns, constants and PostgreSQL's own immutable functions and operators, and of nothing else.
-- How:     by the kinds of its nodes, of which all others are taken for doubtful: a cast by way of text may follow
--          extra_float_digits, one to a domain runs the domain's checks, XML follows xmloption.
-- Contract: p_tree is an expression as the catalogue stores it, cast to text.
CREATE FUNCTION cs9.is_plain_expression(p_tree text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $is_plain_expression$
#variable_conflict error
BEGIN
    RETURN NOT EXISTS (
        SELECT
        FROM regexp_matches(p_tree, '[{]([A-Z_]+)', 'g') AS t (node)
        WHERE t.node[1] NOT IN ('VAR', 'CONST', 'FUNCEXPR', 'OPEXPR', 'BOOLEXPR', 'NULLTEST', 'BOOLEANTEST', 'SCALARARRAYOPEXPR',
                                'RELABELTYPE', 'ARRAYEXPR', 'ARRAY', 'CASEEXPR', 'CASE', 'CASEWHEN', 'WHEN', 'CASETESTEXPR',
                                'COALESCEEXPR', 'COALESCE', 'DISTINCTEXPR', 'NULLIFEXPR')
    ) AND NOT EXISTS (
        SELECT
        FROM (
            SELECT f.match[1]::oid AS id FROM regexp_matches(p_tree, ':funcid ([0-9]+)', 'g') AS f (match)
            UNION ALL
            SELECT o.oprcode
            FROM regexp_matches(p_tree, ':opno ([0-9]+)', 'g') AS f (match)
            JOIN pg_catalog.pg_operator AS o ON o.oid = f.match[1]::oid
        ) AS r
        LEFT JOIN pg_catalog.pg_proc AS p ON p.oid = r.id
        WHERE r.id >= 16384 OR p.provolatile IS DISTINCT FROM 'i'
    );
END;
$is_plain_expression$;
COMMENT ON FUNCTION cs9.is_plain_expression(text) IS 'Whether a stored expression gives the same under any settings';
