-- Purpose: called by the migration that drops a table: runs can no longer write to it. What finished runs recorded about
--          it goes too.
-- Locks:   those of cs9.begin_change.
-- Errors:  S9020 while a run that writes to it is unfinished; S9010 unknown table.
CREATE FUNCTION cs9.unregister_table(p_schema name, p_table name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $unregister_table$
#variable_conflict error
DECLARE
    v_table_id integer := cs9.find_table(format('%I.%I', p_schema, p_table));
BEGIN
    PERFORM cs9.begin_change(p_schema, p_table);
    DELETE FROM cs9.publish_step AS s WHERE s.table_id = v_table_id;
    DELETE FROM cs9.run_table AS t WHERE t.table_id = v_table_id;
    DELETE FROM cs9.table_definition AS d WHERE d.table_id = v_table_id;
END;
$unregister_table$;
COMMENT ON FUNCTION cs9.unregister_table(name, name) IS 'Takes a table out of the register; refused while a run that writes to it is unfinished';
