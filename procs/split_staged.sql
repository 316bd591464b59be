-- Purpose: the partitions of a run's own table, one for each of the live table, split in the same way and stored alike, and the
--          fence around each. Where a table is swapped as a whole, it is stored as the partition is whose place it will take.
-- How:     a publication of all tables has the staged ones too, and PostgreSQL deletes from none that cannot say which row goes:
--          they have no key yet, so that the whole row says it.
CREATE FUNCTION cs9.split_staged(p_run_id bigint, p_table_id integer, p_staged name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $split_staged$
#variable_conflict error
DECLARE
    v_part     record;
    v_relation regclass;
BEGIN
    FOR v_part IN
        SELECT cs9.staged_name(p_run_id, p_table_id, 'part', t.relid::oid) AS name,
               CASE t.level WHEN 1 THEN p_staged ELSE cs9.staged_name(p_run_id, p_table_id, 'part', t.parentrelid::oid) END AS parent,
               pg_get_expr(c.relpartbound, c.oid) AS bound,
               concat_ws(' ', CASE c.relkind WHEN 'p' THEN format('PARTITION BY %s', pg_get_partkeydef(c.oid)) END, nullif(cs9.partition_place(c.oid), '')) AS split,
               CASE c.relkind WHEN 'r' THEN c.oid::regclass END AS leaf
        FROM pg_partition_tree(to_regclass(cs9.table_label(p_table_id))) AS t
        JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
        WHERE t.level > 0
          AND (SELECT s.relkind = 'p' FROM pg_catalog.pg_class AS s WHERE s.oid = format('cs9_staging.%I', p_staged)::regclass)
        ORDER BY t.level, c.relname COLLATE "C"
    LOOP
        EXECUTE format('CREATE TABLE cs9_staging.%I PARTITION OF cs9_staging.%I %s %s', v_part.name, v_part.parent, v_part.bound, v_part.split);
        IF v_part.leaf IS NOT NULL THEN
            PERFORM cs9.copy_partition_settings(p_table_id, v_part.leaf, format('cs9_staging.%I', v_part.name)::regclass);
        END IF;
    END LOOP;
    PERFORM cs9.copy_partition_settings(p_table_id, l.leaf, c.oid::regclass)
    FROM cs9.run_table AS t
    JOIN pg_catalog.pg_class AS c ON c.oid = format('cs9_staging.%I', p_staged)::regclass AND c.relkind = 'r'
    CROSS JOIN LATERAL cs9.leaf_bounds(to_regclass(cs9.table_label(p_table_id))) AS l
    WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND t.publish_mode IN ('swap', 'swap_or_atomic');

    FOR v_relation IN
        SELECT r FROM cs9.with_partitions(format('cs9_staging.%I', p_staged)::regclass) AS r
    LOOP
        EXECUTE format(
            'CREATE TRIGGER cs9_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
            'FOR EACH STATEMENT EXECUTE FUNCTION cs9.guard_staged(%L)',
            v_relation, p_run_id);
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', v_relation);
        -- whatever session_replication_role is
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER cs9_guard', v_relation);
    END LOOP;
END;
$split_staged$;
COMMENT ON FUNCTION cs9.split_staged(bigint, integer, name) IS 'Partitions of a run''s own table, and the fence around each';
