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
SET search_path = pg_catalog, pg_temp
AS $foreign_keys$
#variable_conflict error
DECLARE
    v_tree CONSTANT oid[] := ARRAY (SELECT r::oid FROM cs9.with_partitions(to_regclass(cs9.table_label(p_table_id))) AS r);
BEGIN
    RETURN QUERY
    SELECT f.oid, f.conname, f.conrelid::regclass, f.confrelid::regclass, f.conrelid = ANY (v_tree), f.confrelid = ANY (v_tree),
           coalesce((to_jsonb(f) ->> 'conenforced')::boolean, true)
    FROM pg_catalog.pg_constraint AS f
    -- PostgreSQL gives each partition a copy of a key of its table
    LEFT JOIN pg_catalog.pg_constraint AS o ON o.oid = f.conparentid AND (o.conrelid = ANY (v_tree) OR o.confrelid = ANY (v_tree))
    WHERE f.contype = 'f' AND o.oid IS NULL
      AND (f.conrelid = ANY (v_tree) OR f.confrelid = ANY (v_tree))
    ORDER BY f.conname, f.oid;
END;
$foreign_keys$;
COMMENT ON FUNCTION cs9.foreign_keys(integer) IS 'The foreign keys of a table and at it, those of single partitions too';
