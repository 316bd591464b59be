-- Purpose: a model and the table that it is compared with, and their partitions of one name, at every depth.
CREATE FUNCTION cs9.adopted_pairs(p_model regclass, p_live regclass)
RETURNS TABLE (model regclass, live regclass, label text)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $adopted_pairs$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH RECURSIVE pair (model, live) AS (
        SELECT p_model, p_live
        UNION ALL
        SELECT m.inhrelid::regclass, l.inhrelid::regclass
        FROM pair AS p
        JOIN pg_catalog.pg_inherits AS m ON m.inhparent = p.model
        JOIN pg_catalog.pg_class AS c ON c.oid = m.inhrelid
        JOIN pg_catalog.pg_inherits AS l ON l.inhparent = p.live
        JOIN pg_catalog.pg_class AS d ON d.oid = l.inhrelid AND d.relname = c.relname
    )
    SELECT p.model, p.live, CASE WHEN p.model = p_model THEN '' ELSE format('partition %I: ', c.relname) END
    FROM pair AS p
    JOIN pg_catalog.pg_class AS c ON c.oid = p.model;
END;
$adopted_pairs$;
COMMENT ON FUNCTION cs9.adopted_pairs(regclass, regclass) IS 'A table and its partitions beside those of its model';
