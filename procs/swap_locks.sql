-- Purpose: the tables that a swap locks against their readers: the live tables first, then what is below them. Besides the
--          partitions that are swapped these are the default ones beside them, which PostgreSQL locks too.
-- Returns: in the order in which they are to be locked. p_pairs is what cs9.apply_swaps has written down.
CREATE FUNCTION cs9.swap_locks(p_pairs jsonb)
RETURNS TABLE (relation regclass)
LANGUAGE plpgsql
STABLE
ROWS 8
SET search_path = pg_catalog, pg_temp
AS $swap_locks$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH pair AS (
        SELECT p.* FROM jsonb_to_recordset(p_pairs) AS p (table_id integer, leaf oid, parent oid)
    )
    SELECT l.relation::regclass
    FROM (
        SELECT p.table_id, 0 AS level, to_regclass(cs9.table_label(p.table_id))::oid AS relation FROM pair AS p
        UNION
        SELECT p.table_id, 1, p.parent FROM pair AS p WHERE p.parent <> to_regclass(cs9.table_label(p.table_id))
        UNION
        SELECT p.table_id, 2, p.leaf FROM pair AS p
        UNION
        SELECT p.table_id, 2, t.relation::oid
        FROM pair AS p
        JOIN pg_catalog.pg_partitioned_table AS d ON d.partrelid = p.parent AND d.partdefid <> 0
        CROSS JOIN LATERAL cs9.partition_tree(d.partdefid) AS t
    ) AS l
    GROUP BY l.relation
    ORDER BY min(l.level) > 0, min(l.table_id), min(l.level), l.relation;
END;
$swap_locks$;
COMMENT ON FUNCTION cs9.swap_locks(jsonb) IS 'The tables that a swap locks against their readers, in order';
