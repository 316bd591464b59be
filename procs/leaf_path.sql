-- Purpose: where a leaf partition hangs in its table, and what it takes.
-- Returns: parent, the table that it is a partition of; path, the bounds from p_table down to the leaf (FOR VALUES … or
--          DEFAULT): they say which partition of a run's own table stands for which of the live one.
CREATE FUNCTION cs9.leaf_path(p_leaf regclass, p_table regclass, OUT parent regclass, OUT path text[])
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $leaf_path$
#variable_conflict error
BEGIN
    WITH RECURSIVE up AS (
        SELECT c.oid, i.inhparent, 1 AS n, pg_get_expr(c.relpartbound, c.oid) AS bound
        FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhrelid = p_leaf AND p_leaf <> p_table
        UNION ALL
        SELECT c.oid, i.inhparent, u.n + 1, pg_get_expr(c.relpartbound, c.oid)
        FROM up AS u
        JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = u.inhparent
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE u.inhparent <> p_table
    )
    SELECT (array_agg(u.inhparent::regclass ORDER BY u.n))[1], array_agg(u.bound ORDER BY u.n DESC) INTO parent, path
    FROM up AS u;
END;
$leaf_path$;
COMMENT ON FUNCTION cs9.leaf_path(regclass, regclass) IS 'Where a leaf partition hangs in its table, and what it takes';
