-- Purpose: move a live table, with its indexes and sequences, out of the way of one that takes its name.
-- Contract: in one transaction with what puts it back: cs9.adopt_partition or cs9.join_partition.
-- Locks:   the table, ACCESS EXCLUSIVE; the caller bounds the wait.
-- Errors:  S9021 when something is tied to it.
CREATE FUNCTION cs9.set_aside(p_schema name, p_table name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $set_aside$
#variable_conflict error
BEGIN
    EXECUTE format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE', p_schema, p_table);
    PERFORM cs9.assert_replaceable(format('%I.%I', p_schema, p_table)::regclass);
    EXECUTE format('ALTER TABLE %I.%I SET SCHEMA cs9_staging', p_schema, p_table);
END;
$set_aside$;
COMMENT ON FUNCTION cs9.set_aside(name, name) IS 'Moves a live table out of the way of one that takes its name';
