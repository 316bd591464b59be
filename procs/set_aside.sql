-- Purpose: move a live table, with its indexes and sequences, out of the way of one that takes its name.
-- How:     a sequence that a column owns would move along, while the table that comes draws from it where it is: it is owned by
--          none for the moment. Those of identity columns move.
-- Contract: in one transaction with what puts it back: cs9.adopt_partition or cs9.join_partition.
-- Locks:   the table, ACCESS EXCLUSIVE; the caller bounds the wait.
-- Errors:  S9021 when something is tied to it.
CREATE FUNCTION cs9.set_aside(p_schema name, p_table name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $set_aside$
#variable_conflict error
DECLARE
    v_owned    jsonb;
    v_sequence regclass;
BEGIN
    EXECUTE format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE', p_schema, p_table);
    PERFORM cs9.assert_replaceable(format('%I.%I', p_schema, p_table)::regclass);
    SELECT coalesce(jsonb_agg(jsonb_build_object('sequence', d.objid, 'column', a.attname)), '[]') INTO v_owned
    FROM pg_catalog.pg_depend AS d
    JOIN pg_catalog.pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'a'
      AND d.refobjid = format('%I.%I', p_schema, p_table)::regclass;
    PERFORM set_config('cs9.owned_sequences', v_owned::text, true);
    FOR v_sequence IN SELECT o.sequence::regclass FROM jsonb_to_recordset(v_owned) AS o (sequence oid) LOOP
        EXECUTE format('ALTER SEQUENCE %s OWNED BY NONE', v_sequence);
    END LOOP;
    EXECUTE format('ALTER TABLE %I.%I SET SCHEMA cs9_staging', p_schema, p_table);
END;
$set_aside$;
COMMENT ON FUNCTION cs9.set_aside(name, name) IS 'Moves a live table out of the way of one that takes its name';
