-- Purpose: a table in a publication takes no UPDATE and no DELETE unless its rows can be told apart by their replica
--          identity, nor when the publication filters by columns outside of it.
-- How:     PostgreSQL is asked: it looks when a statement begins, before any row. EXPLAIN begins one and runs none.
-- Errors:  S9013 with what PostgreSQL says.
CREATE FUNCTION cs9.check_replica_identity(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_replica_identity$
#variable_conflict error
DECLARE
    v_atomic   CONSTANT boolean := cs9.publish_mode_of(p_run_id, p_table_id) = 'atomic';
    -- an atomic publish deletes what is gone, and updates what the run deletes and stages again
    v_replaces CONSTANT boolean := v_atomic AND cs9.run_deletes(p_run_id, p_table_id) <> 'false';
    v_updates  CONSTANT boolean := v_replaces OR EXISTS (
        SELECT FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND t.rows_upserted > 0);
    v_deletes  CONSTANT boolean := v_replaces OR NOT v_atomic AND EXISTS (
        SELECT FROM cs9.run_delete_steps(p_run_id, p_table_id) AS s WHERE s.kind = 'delete');
    v_key      CONSTANT name := (SELECT d.keys[1] FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
    v_relation regclass;
    v_deleted  boolean;
    v_updated  boolean;
BEGIN
    IF NOT (v_updates OR v_deletes) OR NOT EXISTS (SELECT FROM pg_catalog.pg_publication AS p WHERE p.pubupdate OR p.pubdelete) THEN
        RETURN;
    END IF;
    FOR v_relation, v_deleted, v_updated IN
        -- a statement of an atomic publish is one of all partitions
        SELECT l, v_deletes AND (v_atomic OR l IN (SELECT d FROM cs9.leaves_where(p_table_id, cs9.run_deletes(p_run_id, p_table_id)) AS d)),
               v_updates AND (v_atomic OR l IN (SELECT s FROM cs9.staged_leaves(p_run_id, p_table_id) AS s))
        FROM cs9.leaf_relations(p_table_id) AS l
    LOOP
        IF v_deleted THEN
            EXECUTE format('EXPLAIN DELETE FROM ONLY %s', v_relation);
        END IF;
        IF v_updated THEN
            EXECUTE format('EXPLAIN UPDATE ONLY %s SET %I = DEFAULT', v_relation, v_key);
        END IF;
    END LOOP;
EXCEPTION
    WHEN object_not_in_prerequisite_state OR invalid_column_reference THEN
        PERFORM cs9.cannot_finish(p_table_id, format('%s is published for replication: %s', v_relation, SQLERRM),
            'A subscriber could not tell which row was changed or deleted.',
            'ALTER TABLE … REPLICA IDENTITY, or take the table or the column out of the publication.');
END;
$check_replica_identity$;
COMMENT ON FUNCTION cs9.check_replica_identity(bigint, integer) IS 'Refuses a table in a publication whose rows cannot be told apart';
