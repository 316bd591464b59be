-- Purpose: rows of a table that inherits from the live table are seen in it, and some statements reach them: TRUNCATE empties both.
-- Errors:  S9013 names such a table.
CREATE FUNCTION cs9.check_inherited(p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_inherited$
#variable_conflict error
DECLARE
    v_child CONSTANT regclass := (
        SELECT min(i.inhrelid::regclass::text)
        FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhparent AND c.relkind = 'r'
        WHERE i.inhparent = to_regclass(cs9.table_label(p_table_id)));
BEGIN
    IF v_child IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, format('%s inherits from it', v_child),
            'A publish would delete rows of that table, or leave some that readers see in this one.',
            'ALTER TABLE … NO INHERIT, or make it a partition.');
    END IF;
END;
$check_inherited$;
COMMENT ON FUNCTION cs9.check_inherited(integer) IS 'Refuses a live table from which another one inherits';
