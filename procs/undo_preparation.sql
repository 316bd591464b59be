-- Purpose: take away what was made for a swap of staged rows, which a new attempt goes on writing: the rows that were split,
--          what was noted of their values, and checks that only the partition has whose place the table would have taken.
CREATE FUNCTION cs9.undo_preparation(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $undo_preparation$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        SELECT format('DROP TABLE IF EXISTS cs9_staging.%I', t.split_name)
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.split_name IS NOT NULL
        UNION ALL
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.oid::regclass, k.conname)
        FROM cs9.run_table AS t
        JOIN cs9.table_definition AS d ON d.table_id = t.table_id
        JOIN pg_catalog.pg_class AS c ON c.oid = to_regclass('cs9_staging.' || quote_ident(t.staged_name)) AND c.relkind = 'r'
        JOIN pg_catalog.pg_constraint AS k ON k.conrelid = c.oid AND k.contype = 'c'
        WHERE t.run_id = p_run_id
          AND NOT EXISTS (
              SELECT
              FROM pg_catalog.pg_constraint AS o
              WHERE o.conrelid = to_regclass(format('%I.%I', d.schema_name, d.staging_name)) AND o.contype = 'c' AND o.conname = k.conname)
    LOOP
        EXECUTE v_command;
    END LOOP;
    UPDATE cs9.run_table AS t SET split_name = NULL, staged_values = NULL WHERE t.run_id = p_run_id;
END;
$undo_preparation$;
COMMENT ON FUNCTION cs9.undo_preparation(bigint) IS 'Takes away what was made for a swap of staged rows';
