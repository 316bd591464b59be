-- Purpose: which index of a staged table will take the place of which of a live partition. They are matched by what they are,
--          and several of one shape by the order of their names: neither names nor oids live as long as a run that is ready.
-- Returns: one row for each valid index of either; the columns of the other are null where it has none of the kind.
CREATE FUNCTION cs9.index_pairs(p_leaf regclass, p_staged regclass)
RETURNS TABLE (live_index regclass, live_name name, staged_index regclass, staged_name name)
LANGUAGE plpgsql
STABLE
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $index_pairs$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH shape AS MATERIALIZED (
        SELECT s.*, row_number() OVER (PARTITION BY s.indrelid, s.what ORDER BY s.relname COLLATE "C") AS n
        FROM (
            SELECT i.indrelid, i.indexrelid, c.relname, cs9.index_shape(i.indexrelid) AS what
            FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE i.indrelid IN (p_leaf, p_staged) AND i.indisvalid
        ) AS s
    )
    SELECT l.indexrelid::regclass, l.relname, s.indexrelid::regclass, s.relname
    FROM (SELECT x.* FROM shape AS x WHERE x.indrelid = p_leaf) AS l
    FULL JOIN (SELECT x.* FROM shape AS x WHERE x.indrelid = p_staged) AS s ON s.what = l.what AND s.n = l.n
    ORDER BY l.relname COLLATE "C", s.relname COLLATE "C";
END;
$index_pairs$;
COMMENT ON FUNCTION cs9.index_pairs(regclass, regclass) IS 'Which index of a staged table will take the place of which of a live partition';
