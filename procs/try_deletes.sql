-- Purpose: try a row of the deletes of a run on one table, among those that p_bound is true for, where triggers would fire.
-- How:     a batched publish deletes from each partition by itself, an atomic one from the table, what is not staged again.
-- Errors:  those of cs9.try_step.
CREATE FUNCTION cs9.try_deletes(p_run_id bigint, p_table_id integer, p_bound text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $try_deletes$
#variable_conflict error
DECLARE
    v_batched  CONSTANT boolean := cs9.publish_mode_of(p_run_id, p_table_id) = 'batched';
    v_live     CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_triggers CONSTANT text := cs9.user_triggers(v_live, 8);
    v_truncate CONSTANT text := cs9.user_triggers(v_live, 32);
    v_relation regclass;
    v_leaf     regclass;
    v_row      tid;
BEGIN
    IF v_batched AND v_truncate IS NOT NULL THEN
        FOR v_relation IN
            SELECT s.relation::regclass FROM cs9.run_delete_steps(p_run_id, p_table_id) AS s
            WHERE s.kind = 'truncate' AND cs9.user_triggers(s.relation::regclass, 32) IS NOT NULL
        LOOP
            PERFORM cs9.try_step(p_table_id, v_truncate, NULL, format('TRUNCATE TABLE %s', v_relation));
        END LOOP;
    END IF;
    IF v_triggers IS NULL OR v_batched AND NOT EXISTS (SELECT FROM cs9.run_delete_steps(p_run_id, p_table_id) AS s WHERE s.kind = 'delete') THEN
        RETURN;
    END IF;
    EXECUTE format('SELECT tableoid, ctid FROM %s WHERE CASE WHEN %s THEN %s END LIMIT 1', v_live, p_bound, cs9.deleted_for_good(p_run_id, p_table_id))
    INTO v_leaf, v_row;
    IF v_row IS NOT NULL THEN
        v_relation := CASE WHEN v_batched AND NOT cs9.references_itself(p_table_id) THEN v_leaf ELSE v_live END;
        PERFORM cs9.try_step(p_table_id, v_triggers, NULL,
            format('DELETE FROM %s WHERE tableoid = %s AND ctid = %L', v_relation, v_leaf::oid, v_row));
    END IF;
END;
$try_deletes$;
COMMENT ON FUNCTION cs9.try_deletes(bigint, integer, text) IS 'Tries a row of the deletes of a run on one table';
