-- Purpose: the switch itself: a partition that has left its table waits in cs9_staging to be dropped; the staged table
--          takes its place, its name and those of its indexes.
--   p_names    the name that each index of the staged table takes, by its own
-- Contract: the caller has detached p_leaf from p_parent, and holds the live table ACCESS EXCLUSIVE. Changes of the
--           catalogue only, whatever the size.
CREATE FUNCTION cs9.switch_partition(p_run_id bigint, p_table_id integer, p_leaf regclass, p_parent regclass, p_staged regclass, p_bound text, p_names jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $switch_partition$
#variable_conflict error
DECLARE
    v_retired CONSTANT name := cs9.staged_name(p_run_id, p_table_id, 'old', p_leaf::oid);
    v_schema  name;
    v_name    name;
    v_staged  CONSTANT name := (SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.oid = p_staged);
    v_renames text[];
    v_takes   text[];
    v_command text;
BEGIN
    SELECT n.nspname, c.relname INTO STRICT v_schema, v_name
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = p_leaf;

    -- each name is free when it is given: what moves is called as only cs9gen calls things
    v_renames := ARRAY (
        SELECT format('ALTER INDEX %s RENAME TO %I', i.indexrelid::regclass, cs9.staged_name(p_run_id, p_table_id, 'oldindex', i.indexrelid))
        FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = p_leaf);
    v_takes := ARRAY (
        SELECT format('ALTER INDEX %I.%I RENAME TO %I', v_schema, n.key, n.value)
        FROM jsonb_each_text(p_names) AS n);
    FOREACH v_command IN ARRAY v_renames
        || format('ALTER TABLE %s RENAME TO %I', p_leaf, v_retired)
        || format('ALTER TABLE %I.%I SET SCHEMA cs9_staging', v_schema, v_retired)
        || format('ALTER TABLE %s SET SCHEMA %I', p_staged, v_schema)
        || format('ALTER TABLE %I.%I RENAME TO %I', v_schema, v_staged, v_name)
        || v_takes
    LOOP
        EXECUTE v_command;
    END LOOP;
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I.%I %s', p_parent, v_schema, v_name, p_bound);
    IF EXISTS (SELECT FROM pg_catalog.pg_constraint AS c WHERE c.conrelid = p_staged AND c.conname = 'cs9_bound') THEN
        EXECUTE format('ALTER TABLE %I.%I DROP CONSTRAINT cs9_bound', v_schema, v_name);
    END IF;

    UPDATE cs9.run_table AS t
    SET retired_names = t.retired_names || v_retired
    WHERE t.run_id = p_run_id AND t.table_id = p_table_id;
END;
$switch_partition$;
COMMENT ON FUNCTION cs9.switch_partition(bigint, integer, regclass, regclass, regclass, text, jsonb) IS 'Puts a staged table in the place of a partition';
