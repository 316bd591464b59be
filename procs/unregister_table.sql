-- Purpose: called by the down migration of each table: runs can no longer write to it. What finished runs recorded
--          about it goes too.
-- Errors:  S9020 while a run that writes to it is unfinished; S9010 unknown table.
CREATE FUNCTION cs9.unregister_table(p_schema name, p_table name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $unregister_table$
#variable_conflict error
DECLARE
    v_table_id integer := cs9.find_table(format('%I.%I', p_schema, p_table));
    v_run      record;
BEGIN
    SELECT k.task, r.run_key, r.state INTO v_run
    FROM cs9.run_table AS t
    JOIN cs9.run AS r ON r.run_id = t.run_id
    JOIN cs9.task AS k ON k.task_id = r.task_id
    WHERE t.table_id = v_table_id AND r.state IN ('running', 'ready', 'publishing')
    ORDER BY r.run_id
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'run % of task % writes to % and is %', quote_literal(v_run.run_key), quote_literal(v_run.task),
                        cs9.table_label(v_table_id), v_run.state
            USING ERRCODE = 'S9020',
                  DETAIL = 'Removing the table now would lose what the run staged.',
                  HINT = 'Publish the run, or discard it: SELECT cs9.discard_run(task, run_key).',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
    DELETE FROM cs9.publish_step AS s WHERE s.table_id = v_table_id;
    DELETE FROM cs9.run_table AS t WHERE t.table_id = v_table_id;
    DELETE FROM cs9.table_definition AS d WHERE d.table_id = v_table_id;
END;
$unregister_table$;
COMMENT ON FUNCTION cs9.unregister_table(name, name) IS 'Takes a table out of the register; refused while a run that writes to it is unfinished';
