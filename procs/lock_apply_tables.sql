-- Purpose: keep writers out of the tables that are published in one transaction. Plain readers go on; one that locks rows
--          (FOR SHARE, the check of a foreign key) waits, because it would see a part.
-- How:     the staged tables come first: autovacuum may be at work there, and gives way only to one that waits.
CREATE FUNCTION cs9.lock_apply_tables(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $lock_apply_tables$
#variable_conflict error
DECLARE
    v_relation text;
    v_table    record;
BEGIN
    FOR v_relation IN
        SELECT format('cs9_staging.%I', s.name)
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL unnest(ARRAY[t.staged_name, t.split_name]) AS s (name)
        WHERE t.run_id = p_run_id AND t.publish_mode IN ('swap', 'swap_or_atomic') AND s.name IS NOT NULL
        ORDER BY t.table_id, s.name
    LOOP
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_relation);
    END LOOP;
    FOR v_table IN
        SELECT t.table_id, cs9.table_label(t.table_id) AS label
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.publish_mode <> 'batched'
        ORDER BY t.table_id
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN EXCLUSIVE MODE', v_table.label);
        IF cs9.publish_mode_of(p_run_id, v_table.table_id) <> 'swap' THEN
            EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', v_table.label);
        ELSE
            -- whoever writes to another partition by its own name does not matter
            FOR v_relation IN SELECT p.leaf::text FROM cs9.swap_pairs(p_run_id, v_table.table_id) AS p LOOP
                EXECUTE format('LOCK TABLE %s IN EXCLUSIVE MODE', v_relation);
            END LOOP;
        END IF;
    END LOOP;
END;
$lock_apply_tables$;
COMMENT ON FUNCTION cs9.lock_apply_tables(bigint) IS 'Keeps writers out of the tables that are published in one transaction';
