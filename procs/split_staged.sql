-- Purpose: the partitions of a table that stands for a live one, split in the same way and stored alike: one for each leaf of
--          it, or for those that are named.
CREATE FUNCTION cs9.split_staged(p_run_id bigint, p_table_id integer, p_staged name, p_leaves regclass[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $split_staged$
#variable_conflict error
DECLARE
    v_part record;
BEGIN
    FOR v_part IN
        SELECT cs9.staged_name(p_run_id, p_table_id, 'part', t.relation::oid) AS name,
               CASE t.level WHEN 1 THEN p_staged ELSE cs9.staged_name(p_run_id, p_table_id, 'part', t.parent::oid) END AS parent,
               pg_get_expr(c.relpartbound, c.oid) AS bound,
               concat_ws(' ', CASE c.relkind WHEN 'p' THEN format('PARTITION BY %s', pg_get_partkeydef(c.oid)) END, nullif(cs9.partition_place(c.oid), '')) AS split,
               CASE c.relkind WHEN 'r' THEN c.oid::regclass END AS leaf
        FROM cs9.partition_tree(to_regclass(cs9.table_label(p_table_id))) AS t
        JOIN pg_catalog.pg_class AS c ON c.oid = t.relation
        WHERE t.level > 0
          AND (p_leaves IS NULL OR t.relation IN (SELECT u.relid FROM unnest(p_leaves) AS l CROSS JOIN LATERAL pg_partition_ancestors(l) AS u))
        ORDER BY t.level, c.relname COLLATE "C"
    LOOP
        EXECUTE format('CREATE TABLE cs9_staging.%I PARTITION OF cs9_staging.%I %s %s', v_part.name, v_part.parent, v_part.bound, v_part.split);
        IF v_part.leaf IS NOT NULL THEN
            PERFORM cs9.copy_partition_settings(p_table_id, v_part.leaf, format('cs9_staging.%I', v_part.name)::regclass);
        END IF;
    END LOOP;
END;
$split_staged$;
COMMENT ON FUNCTION cs9.split_staged(bigint, integer, name, regclass[]) IS 'Partitions of a table that stands for a live one';
