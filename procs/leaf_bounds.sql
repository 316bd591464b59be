-- Purpose: the leaf partitions of a partitioned table, and what each takes.
-- Returns: parent, the table that the leaf is a partition of; path, the bounds from the table down to the leaf (FOR VALUES …
--          or DEFAULT): they say which partition of a run's own table stands for which of the live one.
CREATE FUNCTION cs9.leaf_bounds(p_table regclass)
RETURNS TABLE (leaf regclass, parent regclass, path text[])
LANGUAGE plpgsql
STABLE
ROWS 30
SET search_path = pg_catalog, pg_temp
AS $leaf_bounds$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH RECURSIVE tree AS (
        SELECT c.oid, c.relkind, c.relname, i.inhparent, ARRAY[pg_get_expr(c.relpartbound, c.oid)] AS bounds
        FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhparent = p_table
        UNION ALL
        SELECT c.oid, c.relkind, c.relname, i.inhparent, t.bounds || pg_get_expr(c.relpartbound, c.oid)
        FROM tree AS t
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.oid
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE t.relkind = 'p'
    )
    SELECT t.oid::regclass, t.inhparent::regclass, t.bounds
    FROM tree AS t
    WHERE t.relkind <> 'p'
    ORDER BY t.relname COLLATE "C";
END;
$leaf_bounds$;
COMMENT ON FUNCTION cs9.leaf_bounds(regclass) IS 'The leaf partitions of a partitioned table, and what each takes';
