-- Purpose: how a run's own table must be split, so that each part can take the place of a live partition.
-- Returns: PARTITION BY …; where the live table has one partition, how that is stored; nothing where no swap is wanted.
CREATE FUNCTION cs9.staged_split(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $staged_split$
#variable_conflict error
BEGIN
    RETURN coalesce((
        SELECT CASE count(*)
                   WHEN 1 THEN cs9.partition_place(min(l.leaf::oid)::regclass)
                   ELSE format('PARTITION BY %s', pg_get_partkeydef(to_regclass(cs9.table_label(p_table_id))))
               END
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL cs9.leaf_relations(p_table_id) AS l (leaf)
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id
          AND t.publish_mode IN ('swap', 'swap_or_atomic')
        HAVING count(*) > 0
    ), '');
END;
$staged_split$;
COMMENT ON FUNCTION cs9.staged_split(bigint, integer) IS 'How a run''s own table is split and stored, or nothing';
