-- Purpose: what ALTER COLUMN has to say for the columns of a table to be like those of another: statistics target, storage,
--          compression, options.
-- Returns: samples, whether the statistics of the table change by it.
CREATE FUNCTION cs9.column_changes(p_wanted regclass, p_there regclass)
RETURNS TABLE (column_name name, what text, samples boolean)
LANGUAGE plpgsql
STABLE
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $column_changes$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT w.attname, x.what, x.samples
    FROM pg_catalog.pg_attribute AS w
    JOIN pg_catalog.pg_attribute AS t ON t.attrelid = p_there AND t.attname = w.attname
    CROSS JOIN LATERAL (
        SELECT format('SET STORAGE %s', CASE w.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END) AS what,
               false AS samples
        WHERE w.attstorage <> t.attstorage
        UNION ALL
        SELECT format('SET COMPRESSION %s', CASE w.attcompression WHEN 'p' THEN 'pglz' WHEN 'l' THEN 'lz4' ELSE 'default' END), false
        WHERE w.attcompression <> t.attcompression
        UNION ALL
        SELECT o, true FROM cs9.option_changes(w.attoptions, t.attoptions, '') AS o
        UNION ALL
        -- null since PostgreSQL 17
        SELECT format('SET STATISTICS %s', coalesce(w.attstattarget, -1)), true
        WHERE coalesce(w.attstattarget, -1) <> coalesce(t.attstattarget, -1)
    ) AS x
    WHERE w.attrelid = p_wanted AND w.attnum > 0 AND NOT w.attisdropped;
END;
$column_changes$;
COMMENT ON FUNCTION cs9.column_changes(regclass, regclass) IS 'What ALTER COLUMN has to say for the columns of a table to be like those of another';
