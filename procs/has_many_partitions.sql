-- Purpose: whether a table has so many partitions that what is done must not cost something for each of them: its rows are
--          staged in one heap, and only the partitions that a run touches are looked at.
CREATE FUNCTION cs9.has_many_partitions(p_table_id integer)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $has_many_partitions$
#variable_conflict error
DECLARE
    c_many CONSTANT integer := 33;
BEGIN
    RETURN (
        WITH RECURSIVE tree AS (
            SELECT c.oid, c.relkind
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = to_regclass(cs9.table_label(p_table_id))
            UNION ALL
            SELECT c.oid, c.relkind
            FROM tree AS t
            JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.oid AND NOT i.inhdetachpending
            JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
            WHERE t.relkind = 'p'
        )
        SELECT count(*) >= c_many FROM (SELECT FROM tree AS t WHERE t.relkind <> 'p' LIMIT c_many) AS leaf
    );
END;
$has_many_partitions$;
COMMENT ON FUNCTION cs9.has_many_partitions(integer) IS 'Whether a table has so many partitions that none may cost something for being there';
