-- Purpose: which index of a staged table will take the place of which of a live partition. They are matched by what they are,
--          and several of one shape in the order in which ATTACH PARTITION gives each index of the parent one that is
--          like it: by the oids of the parent's indexes and of the staged ones. Neither names nor oids live as long as a run that
--          is ready.
-- Contract: the partition is attached: afterwards nothing says which index of the parent had which of the partition.
-- Returns: one row for each valid index of either; the columns of the other are null where it has none of the kind. parent_index
--          is the one that the live index is a partition of; null where the partition alone has it.
CREATE FUNCTION cs9.index_pairs(p_leaf regclass, p_staged regclass)
RETURNS TABLE (live_index regclass, live_name name, parent_index oid, staged_index regclass, staged_name name)
LANGUAGE plpgsql
STABLE
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $index_pairs$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH shape AS MATERIALIZED (
        SELECT s.*, row_number() OVER (PARTITION BY s.indrelid, s.what ORDER BY s.parent, s.own COLLATE "C", s.indexrelid) AS n
        FROM (
            SELECT i.indrelid, i.indexrelid, c.relname, cs9.index_shape(i.indexrelid) AS what, h.inhparent AS parent,
                   CASE WHEN i.indrelid = p_leaf THEN c.relname END AS own
            FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            LEFT JOIN pg_catalog.pg_inherits AS h ON h.inhrelid = i.indexrelid AND i.indrelid = p_leaf
            WHERE i.indrelid IN (p_leaf, p_staged) AND i.indisvalid
        ) AS s
    )
    SELECT l.indexrelid::regclass, l.relname, l.parent, s.indexrelid::regclass, s.relname
    FROM (SELECT x.* FROM shape AS x WHERE x.indrelid = p_leaf) AS l
    FULL JOIN (SELECT x.* FROM shape AS x WHERE x.indrelid = p_staged) AS s ON s.what = l.what AND s.n = l.n
    ORDER BY l.relname COLLATE "C", s.relname COLLATE "C";
END;
$index_pairs$;
COMMENT ON FUNCTION cs9.index_pairs(regclass, regclass) IS 'Which index of a staged table will take the place of which of a live partition';
