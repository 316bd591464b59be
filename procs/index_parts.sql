-- Purpose: what an index stores for a row, part by part, so that it can be said how large that is.
-- Returns: one row for each column of the index, those of INCLUDE too:
--   expression   as SQL, over the columns of the table
--   is_column    a column of the table: nothing is evaluated
--   bound        how many bytes it takes at most; null when the type does not say
CREATE FUNCTION cs9.index_parts(p_index regclass)
RETURNS TABLE (n integer, expression text, is_column boolean, bound integer)
LANGUAGE plpgsql
STABLE
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $index_parts$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT k.n, coalesce(quote_ident(a.attname), format('(%s)', pg_get_indexdef(i.indexrelid, k.n, false))), a.attname IS NOT NULL,
           CASE WHEN a.attname IS NOT NULL THEN cs9.value_bound(a.atttypid, a.atttypmod) END
    FROM pg_catalog.pg_index AS i
    CROSS JOIN LATERAL generate_series(1, i.indnatts::integer) AS k (n)
    -- one at a time: a join would read all columns of the database
    LEFT JOIN LATERAL (
        SELECT c.attname, c.atttypid, c.atttypmod
        FROM pg_catalog.pg_attribute AS c
        WHERE c.attrelid = i.indrelid AND c.attnum = i.indkey[k.n - 1] AND c.attnum > 0
        LIMIT 1
    ) AS a ON true
    WHERE i.indexrelid = p_index
    ORDER BY k.n;
END;
$index_parts$;
COMMENT ON FUNCTION cs9.index_parts(regclass) IS 'What an index stores for a row, part by part';
