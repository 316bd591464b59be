-- Purpose: remove all that a run has staged: its tables, the partitions whose place they took, its recorded deletes.
-- Contract: a table that another session is at is left to cs9.drop_leftovers: it is of no use to anybody, and no reason to
--           wait.
-- Locks:   ACCESS EXCLUSIVE on the run's own tables. The first that is held is waited for as long as cs9.lock_timeout
--          says, the others are not.
CREATE FUNCTION cs9.drop_staged(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $drop_staged$
#variable_conflict error
DECLARE
    v_table record;
    v_name  name;
    v_left  name[];
    v_wait  boolean := true;
BEGIN
    FOR v_table IN
        SELECT t.table_id, array_remove(ARRAY[t.split_name, t.staged_name] || t.retired_names, NULL) AS names
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id
        ORDER BY t.table_id
    LOOP
        v_left := '{}';
        FOREACH v_name IN ARRAY v_table.names LOOP
            IF NOT cs9.drop_unless_held(v_name, v_wait) THEN
                v_left := v_left || v_name;
                v_wait := false;
            END IF;
        END LOOP;
        UPDATE cs9.run_table AS t
        SET staged_name = NULL, split_name = NULL, retired_names = v_left
        WHERE t.run_id = p_run_id AND t.table_id = v_table.table_id;
    END LOOP;
    DELETE FROM cs9.staged_delete AS d WHERE d.run_id = p_run_id;
END;
$drop_staged$;
COMMENT ON FUNCTION cs9.drop_staged(bigint) IS 'Drops the tables that a run staged into, and forgets its recorded deletes';
