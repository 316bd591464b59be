-- Purpose: how a run's own table must be split, so that each part can take the place of a live partition.
-- Returns: PARTITION BY …, or nothing where no swap is wanted or the live table has one partition only.
CREATE FUNCTION cs9.staged_split(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $staged_split$
#variable_conflict error
BEGIN
    RETURN coalesce((
        SELECT format('PARTITION BY %s', pg_get_partkeydef(to_regclass(cs9.table_label(p_table_id))))
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id
          AND t.publish_mode IN ('swap', 'swap_or_atomic')
          AND (SELECT count(*) > 1 FROM cs9.leaf_relations(p_table_id))
    ), '');
END;
$staged_split$;
COMMENT ON FUNCTION cs9.staged_split(bigint, integer) IS 'PARTITION BY clause of a run''s own table, or nothing';
