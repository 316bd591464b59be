-- Purpose: a table that was set aside becomes the one partition of the table that took its name. No row is copied.
-- Contract: p_part is there, empty, as the definition makes it; the old table's indexes get the names of its.
-- Locks:   all three tables, ACCESS EXCLUSIVE; changes of the catalogue only.
CREATE FUNCTION cs9.adopt_partition(p_schema name, p_table name, p_part name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $adopt_partition$
#variable_conflict error
DECLARE
    v_old      CONSTANT regclass := format('cs9_staging.%I', p_table)::regclass;
    v_new      CONSTANT regclass := format('%I.%I', p_schema, p_table)::regclass;
    v_empty    CONSTANT regclass := format('%I.%I', p_schema, p_part)::regclass;
    v_commands text[];
    v_command  text;
BEGIN
    PERFORM cs9.carry_over(v_old, v_new);
    WITH shape AS (
        SELECT s.*, row_number() OVER (PARTITION BY s.indrelid, s.kind, s.what ORDER BY s.relname COLLATE "C") AS n
        FROM (
            SELECT i.indrelid, i.indexrelid, c.relname, i.indisprimary AS kind, cs9.index_shape(i.indexrelid) AS what
            FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE i.indrelid IN (v_old, v_empty)
        ) AS s
    )
    SELECT array_agg(format('ALTER INDEX cs9_staging.%I RENAME TO %I', o.relname, e.relname) ORDER BY e.relname COLLATE "C") INTO v_commands
    FROM shape AS o
    JOIN shape AS e USING (kind, what, n)
    WHERE o.indrelid = v_old AND e.indrelid = v_empty AND o.relname <> e.relname;

    EXECUTE format('DROP TABLE %s', v_empty);
    FOREACH v_command IN ARRAY coalesce(v_commands, '{}') LOOP
        EXECUTE v_command;
    END LOOP;
    EXECUTE format('ALTER TABLE %s RENAME TO %I', v_old, p_part);
    EXECUTE format('ALTER TABLE cs9_staging.%I SET SCHEMA %I', p_part, p_schema);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I.%I DEFAULT', v_new, p_schema, p_part);
END;
$adopt_partition$;
COMMENT ON FUNCTION cs9.adopt_partition(name, name, name) IS 'Makes a table that was set aside the one partition of its successor';
