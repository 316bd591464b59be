-- Purpose: the first statement of a migration that changes or drops a table: no run may write to the table, now or before
--          the migration ends.
-- Contract: p_definition_hash is the definition that the migration was generated from; null asks for no certain one.
-- Locks:   the table's registration, FOR UPDATE: a run that begins waits for the migration, and then sees what it made.
--          From here to the end of the transaction no lock is waited for longer than cs9.lock_timeout.
-- Errors:  S9010 unknown table; S9024 a run is beginning, or another migration changes the table; S9016 the transaction is not READ COMMITTED; S9020 while a run that writes to it is unfinished; S9021 the table's definition is
--          another one.
CREATE FUNCTION cs9.begin_change(p_schema name, p_table name, p_definition_hash text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $begin_change$
#variable_conflict error
DECLARE
    v_table_id integer := cs9.find_table(format('%I.%I', p_schema, p_table));
    v_hash     text;
    v_run      record;
BEGIN
    PERFORM cs9.assert_read_committed();
    PERFORM cs9.bound_lock_wait();
    SELECT d.definition_hash INTO v_hash FROM cs9.table_definition AS d WHERE d.table_id = v_table_id FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM cs9.await_row('cs9.table_definition', format('table_id = %s', v_table_id), 'UPDATE', false);
        SELECT d.definition_hash INTO STRICT v_hash FROM cs9.table_definition AS d WHERE d.table_id = v_table_id FOR UPDATE;
    END IF;

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
                  DETAIL = 'Changing or removing the table now would lose what the run staged. Nothing was changed.',
                  HINT = 'Publish the run, or discard it: SELECT cs9.discard_run(task, run_key). Then migrate again.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
    IF v_hash <> p_definition_hash THEN
        RAISE EXCEPTION '%.% is not as the migration expects it', quote_ident(p_schema), quote_ident(p_table)
            USING ERRCODE = 'S9021',
                  DETAIL = format('Its definition is %s here; the migration was generated from %s.', left(v_hash, 16), left(p_definition_hash, 16)),
                  HINT = 'Another migration of the table is missing or came in between. Apply them in order; where two branches changed the table, keep one migration and generate the other anew.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
END;
$begin_change$;
COMMENT ON FUNCTION cs9.begin_change(name, name, text) IS 'First statement of a migration that changes a table: keeps runs out until it ends';
