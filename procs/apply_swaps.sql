-- Purpose: put what a run staged in the place of the partitions, for all its swap tables. First all that readers do not
--          notice; then, with the live tables locked against them, nothing but changes of the catalogue.
-- Returns: what was done to each table, for people.
CREATE FUNCTION cs9.apply_swaps(p_run_id bigint)
RETURNS text[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $apply_swaps$
#variable_conflict error
DECLARE
    v_pair     record;
    v_relation record;
    v_table    record;
    v_until    timestamptz;
    v_notes    text[] := ARRAY[]::text[];
    v_names    jsonb := jsonb_build_object(); -- of the indexes that each staged table has, those that they take
    -- written down now: with the first switch the tables are not what they were. Default partitions come last, behind
    -- those beside them: PostgreSQL reads one that is there for rows that belong to another.
    v_pairs CONSTANT jsonb := (
        SELECT coalesce(jsonb_agg(jsonb_build_object('table_id', a.table_id, 'leaf', p.leaf::oid, 'parent', p.parent::oid, 'staged', p.staged::oid,
                                                     'bound', p.path[cardinality(p.path)])
                                  ORDER BY a.table_id, ARRAY (SELECT b.bound = 'DEFAULT' FROM unnest(p.path) WITH ORDINALITY AS b (bound, n) ORDER BY b.n),
                                           p.leaf::text COLLATE "C"), '[]')
        FROM cs9.apply_tables(p_run_id) AS a
        CROSS JOIN LATERAL cs9.swap_pairs(p_run_id, a.table_id) AS p
        WHERE a.mode = 'swap');
BEGIN
    FOR v_pair IN
        SELECT p.* FROM jsonb_to_recordset(v_pairs) AS p (leaf oid, staged oid) WHERE p.staged IS NOT NULL
    LOOP
        PERFORM cs9.finish_partition(v_pair.leaf::regclass, v_pair.staged::regclass);
        v_names := v_names || jsonb_build_object(v_pair.staged, (
            SELECT coalesce(jsonb_object_agg(p.staged_name, p.live_name), '{}')
            FROM cs9.index_pairs(v_pair.leaf::regclass, v_pair.staged::regclass) AS p
            WHERE p.live_index IS NOT NULL AND p.staged_index IS NOT NULL));
    END LOOP;

    -- a reader that holds one of these tables and waits for another looks for a deadlock after deadlock_timeout, and would
    -- be the one to fail: all the locks are there before that, or are given up together
    v_until := clock_timestamp() + least(cs9.setting('lock_timeout', '2s')::interval, current_setting('deadlock_timeout')::interval * 0.8);
    FOR v_relation IN
        SELECT r.relation FROM cs9.swap_locks(v_pairs) AS r
    LOOP
        PERFORM set_config('lock_timeout', format('%sms', greatest(1, ceil(extract(epoch FROM v_until - clock_timestamp()) * 1000))), true);
        EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', v_relation.relation);
    END LOOP;
    FOR v_pair IN
        SELECT p.* FROM jsonb_to_recordset(v_pairs) AS p (leaf oid, parent oid, staged oid) WHERE p.staged IS NOT NULL
    LOOP
        EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', v_pair.parent::regclass, v_pair.leaf::regclass);
    END LOOP;
    FOR v_pair IN
        SELECT p.* FROM jsonb_to_recordset(v_pairs) AS p (table_id integer, leaf oid, parent oid, staged oid, bound text)
    LOOP
        IF v_pair.staged IS NULL THEN
            EXECUTE format('TRUNCATE TABLE ONLY %s', v_pair.leaf::regclass);
        ELSE
            PERFORM cs9.switch_partition(p_run_id, v_pair.table_id, v_pair.leaf::regclass, v_pair.parent::regclass, v_pair.staged::regclass, v_pair.bound,
                v_names -> v_pair.staged::text);
        END IF;
    END LOOP;

    FOR v_table IN
        SELECT p.table_id, count(*) AS partitions
        FROM jsonb_to_recordset(v_pairs) AS p (table_id integer)
        GROUP BY p.table_id
        ORDER BY p.table_id
    LOOP
        v_notes := array_append(v_notes, format('%s: %s swapped', cs9.table_label(v_table.table_id),
            CASE v_table.partitions WHEN 1 THEN '1 partition' ELSE format('%s partitions', v_table.partitions) END));
        -- a staged table that was not split has become a partition itself
        UPDATE cs9.run_table AS t
        SET staged_name = NULL
        WHERE t.run_id = p_run_id AND t.table_id = v_table.table_id
          AND to_regclass('cs9_staging.' || quote_ident(t.staged_name)) IS NULL;
    END LOOP;
    RETURN v_notes;
END;
$apply_swaps$;
COMMENT ON FUNCTION cs9.apply_swaps(bigint) IS 'Puts what a run staged in the place of the partitions of its swap tables';
