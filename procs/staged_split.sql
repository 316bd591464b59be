-- Purpose: whether a run's own table is split from the beginning, as the live table is, so that each part can take the place
--          of a live partition. Where there are many partitions a run most often touches few of them: its rows go into one
--          heap, and are split when the run is proved, where they go to several.
-- Returns: PARTITION BY …; for one heap, how the partitions are stored; nothing where no swap is wanted or they differ in that.
CREATE FUNCTION cs9.staged_split(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $staged_split$
#variable_conflict error
BEGIN
    RETURN coalesce((
        SELECT CASE
                   WHEN count(*) > 1 AND NOT cs9.has_many_partitions(p_table_id)
                       THEN format('PARTITION BY %s', pg_get_partkeydef(to_regclass(cs9.table_label(p_table_id))))
                   WHEN count(DISTINCT (c.relam, c.reltablespace)) = 1 THEN cs9.partition_place(min(c.oid)::regclass)
               END
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL cs9.leaf_relations(p_table_id) AS l (leaf)
        JOIN pg_catalog.pg_class AS c ON c.oid = l.leaf
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id
          AND t.publish_mode IN ('swap', 'swap_or_atomic')
    ), '');
END;
$staged_split$;
COMMENT ON FUNCTION cs9.staged_split(bigint, integer) IS 'How a run''s own table is split and stored, or nothing';
