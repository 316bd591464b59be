-- Purpose: in what a relation differs from its model as a whole: its kind, how it is partitioned, which partitions it has.
CREATE FUNCTION cs9.adopted_relation(p_model regclass, p_live regclass)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $adopted_relation$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH kind AS (
        SELECT c.oid, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table partitioned by ' || pg_get_partkeydef(c.oid)
                                     WHEN 'f' THEN 'foreign table' ELSE 'view' END AS what
        FROM pg_catalog.pg_class AS c
        WHERE c.oid IN (p_model, p_live)
    )
    SELECT format('it is a %s in the database, a %s in the definition', l.what, m.what)
    FROM kind AS m
    JOIN kind AS l ON l.oid = p_live
    WHERE m.oid = p_model AND l.what <> m.what;

    RETURN QUERY
    SELECT format('partition %I: %s in the database, %s in the definition', coalesce(l.relname, m.relname),
                  coalesce(l.bound, 'not there'), coalesce(m.bound, 'not there'))
    FROM (
        SELECT c.relname, coalesce(pg_get_expr(c.relpartbound, c.oid), 'a child table') AS bound
        FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhparent = p_live
    ) AS l
    FULL JOIN (
        SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) AS bound
        FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhparent = p_model
    ) AS m ON m.relname = l.relname
    WHERE l.bound IS DISTINCT FROM m.bound
    ORDER BY coalesce(l.relname, m.relname) COLLATE "C";
END;
$adopted_relation$;
COMMENT ON FUNCTION cs9.adopted_relation(regclass, regclass) IS 'In what a relation differs from its model as a whole';
