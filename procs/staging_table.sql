-- Purpose: the run's own table for a live table, made on first use: a copy of the staging template, without any
--          index, so that COPY is as fast as it can be. Logged: a crash of the server must not empty it.
-- Returns: its name as SQL writes it. Its columns are the live table's, and cs9_run, cs9_plan, cs9_op, which have
--          defaults. cs9_op is 'i' for insert; 'u' for upsert, or for all rows of a session: SET cs9.op = 'u'.
-- Locks:   the row of cs9.run_table while the table is made.
-- Errors:  S9009 the table is not one of the run's; S9010 unknown table; S9018 what the run staged is gone,
--          or the schema of staged tables is; S9024 another session makes the table, or holds a lock; those of cs9.assert_live_plan.
CREATE FUNCTION cs9.staging_table(p_run_id bigint, p_table text)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
SET default_tablespace = ''
SET default_table_access_method = heap
AS $staging_table$
#variable_conflict error
DECLARE
    v_definition cs9.table_definition;
    v_table_id   integer;
    v_split      text;
    v_staged     name;
BEGIN
    PERFORM cs9.bound_lock_wait(true);
    v_table_id := cs9.find_table(p_table);
    PERFORM cs9.assert_live_plan(p_run_id);
    PERFORM cs9.assert_run_table(p_run_id, v_table_id);
    PERFORM cs9.assert_role(ARRAY[v_table_id], 'runner');
    PERFORM cs9.assert_staged(p_run_id);
    IF cs9.staged_label(p_run_id, v_table_id) IS NOT NULL THEN
        RETURN cs9.staged_label(p_run_id, v_table_id);
    END IF;

    -- two plans may come here at once: the second waits, and finds the table made
    PERFORM cs9.await_row('cs9.run_table', format('run_id = %s AND table_id = %s', p_run_id, v_table_id), 'UPDATE', true);
    SELECT t.staged_name INTO v_staged FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = v_table_id;
    IF v_staged IS NULL AND to_regnamespace('cs9_staging') IS NULL THEN
        RAISE EXCEPTION 'the schema cs9_staging is gone, in which runs stage'
            USING ERRCODE = 'S9018',
                  DETAIL = 'The database was restored from a dump without it.',
                  HINT = 'As the owner of the schema cs9: CREATE SCHEMA cs9_staging; and GRANT USAGE ON SCHEMA cs9_staging to each runner role. A dump with --exclude-table=''cs9_staging.*'' keeps the schema.',
                  SCHEMA = 'cs9_staging', TABLE = '';
    END IF;
    IF v_staged IS NULL THEN
        SELECT d.* INTO STRICT v_definition FROM cs9.table_definition AS d WHERE d.table_id = v_table_id;
        v_staged := cs9.staged_name(p_run_id, v_table_id, 'rows', NULL, v_definition.table_name);
        v_split := cs9.staged_split(p_run_id, v_table_id);
        EXECUTE format(
            'CREATE TABLE cs9_staging.%I (LIKE %I.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED '
            'INCLUDING STORAGE INCLUDING COMPRESSION) %s',
            v_staged, v_definition.schema_name, v_definition.staging_name, v_split);
        IF starts_with(v_split, 'PARTITION BY') THEN
            PERFORM cs9.split_staged(p_run_id, v_table_id, v_staged, NULL);
        ELSIF v_split <> '' AND (SELECT count(*) = 1 FROM cs9.leaf_relations(v_table_id)) THEN
            PERFORM cs9.copy_partition_settings(v_table_id, l, format('cs9_staging.%I', v_staged)::regclass) FROM cs9.leaf_relations(v_table_id) AS l;
        END IF;
        PERFORM cs9.fence_staged(p_run_id, format('cs9_staging.%I', v_staged)::regclass);
        EXECUTE format('COMMENT ON TABLE cs9_staging.%I IS %L',
            v_staged, format('cs9gen: staged by run %s for %s', p_run_id, cs9.table_label(v_table_id)));
        IF v_definition.runner_role IS NOT NULL THEN
            EXECUTE format('GRANT SELECT, INSERT ON cs9_staging.%I TO %I', v_staged, v_definition.runner_role);
        END IF;
        UPDATE cs9.run_table AS t SET staged_name = v_staged WHERE t.run_id = p_run_id AND t.table_id = v_table_id;
    END IF;
    RETURN format('cs9_staging.%I', v_staged);
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM cs9.cannot_lock('cs9.staging_table');
        RETURN NULL;
END;
$staging_table$;
COMMENT ON FUNCTION cs9.staging_table(bigint, text) IS 'Name of the run''s own table for a live table, made on first use';
