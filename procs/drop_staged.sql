-- Purpose: remove all that a run has staged: its tables, the partitions whose place they took, its recorded deletes.
-- Locks:   ACCESS EXCLUSIVE on the run's own tables, which nobody but the run uses.
CREATE FUNCTION cs9.drop_staged(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $drop_staged$
#variable_conflict error
DECLARE
    v_staged name;
BEGIN
    FOR v_staged IN
        SELECT n.name
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL unnest(t.staged_name || t.retired_names) AS n (name)
        WHERE t.run_id = p_run_id AND n.name IS NOT NULL
        ORDER BY t.table_id
    LOOP
        EXECUTE format('DROP TABLE IF EXISTS cs9_staging.%I', v_staged);
    END LOOP;
    UPDATE cs9.run_table AS t SET staged_name = NULL, retired_names = '{}' WHERE t.run_id = p_run_id;
    DELETE FROM cs9.staged_delete AS d WHERE d.run_id = p_run_id;
END;
$drop_staged$;
COMMENT ON FUNCTION cs9.drop_staged(bigint) IS 'Drops the tables that a run staged into, and forgets its recorded deletes';
