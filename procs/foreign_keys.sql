-- Purpose: the foreign keys that bear on the rows of a table, each once: its own and those at it, of all its partitions or
--          of one alone, and those that it takes part in because it is a partition itself.
-- Returns:
--   key_id       of pg_constraint
--   key_name
--   referencing  the table, or the partition, whose rows reference
--   referenced   the table, or the partition, whose rows are referenced
--   goes_out     whether rows of the table reference
--   comes_in     whether rows of the table are referenced
--   enforced     false where the key only says what should be, which PostgreSQL 18 allows
CREATE FUNCTION cs9.foreign_keys(p_table_id integer)
RETURNS TABLE (key_id oid, key_name name, referencing regclass, referenced regclass, goes_out boolean, comes_in boolean, enforced boolean)
LANGUAGE plpgsql
STABLE
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $foreign_keys$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH tree AS MATERIALIZED (
        SELECT r::oid AS relation FROM cs9.with_partitions(to_regclass(cs9.table_label(p_table_id))) AS r
    ), key AS MATERIALIZED (
        SELECT c.oid, c.conname, c.conrelid, c.confrelid, c.conparentid, coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true) AS is_enforced,
               c.conrelid IN (SELECT t.relation FROM tree AS t) AS is_out, c.confrelid IN (SELECT t.relation FROM tree AS t) AS is_in
        FROM pg_catalog.pg_constraint AS c
        WHERE c.contype = 'f'
    )
    SELECT f.oid, f.conname, f.conrelid::regclass, f.confrelid::regclass, f.is_out, f.is_in, f.is_enforced
    FROM key AS f
    -- PostgreSQL gives each partition a copy of a key of its table
    LEFT JOIN key AS o ON o.oid = f.conparentid AND (o.is_out OR o.is_in)
    WHERE (f.is_out OR f.is_in) AND o.oid IS NULL
    ORDER BY f.conname, f.oid;
END;
$foreign_keys$;
COMMENT ON FUNCTION cs9.foreign_keys(integer) IS 'The foreign keys of a table and at it, those of single partitions too';
