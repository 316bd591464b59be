-- Purpose: a table that was set aside becomes the one partition of the table that took its name. No row is copied.
-- Contract: p_part is there, empty, as the definition makes it; the old table's indexes get the names of its.
-- Locks:   all three tables, ACCESS EXCLUSIVE; changes of the catalogue only, but for a check that was restored from a dump
--          and cannot be written as the definition has it: all rows are read for it.
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
    v_pairs    jsonb;
    v_index    record;
BEGIN
    PERFORM cs9.carry_over(v_old, v_new);
    PERFORM cs9.own_sequences(v_new);
    WITH shape AS (
        SELECT s.*, row_number() OVER (PARTITION BY s.indrelid, s.kind, s.what ORDER BY s.relname COLLATE "C") AS n
        FROM (
            SELECT i.indrelid, i.indexrelid, c.relname, i.indisprimary AS kind, cs9.index_shape(i.indexrelid) AS shape,
                   CASE WHEN i.indexprs IS NULL AND i.indpred IS NULL THEN cs9.index_shape(i.indexrelid) ELSE cs9.settled_index(i.indexrelid) END AS what
            FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE i.indrelid IN (v_old, v_empty)
        ) AS s
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('old', o.indexrelid, 'name', e.relname, 'above', h.inhparent, 'is_same', o.shape = e.shape) ORDER BY e.relname COLLATE "C"), '[]')
    INTO v_pairs
    FROM shape AS o
    JOIN shape AS e USING (kind, what, n)
    LEFT JOIN pg_catalog.pg_inherits AS h ON h.inhrelid = e.indexrelid
    WHERE o.indrelid = v_old AND e.indrelid = v_empty;

    EXECUTE format('DROP TABLE %s', v_empty);
    FOR v_index IN SELECT p.* FROM jsonb_to_recordset(v_pairs) AS p (old oid, name name, above oid, is_same boolean) LOOP
        IF NOT v_index.is_same AND v_index.above IS NOT NULL THEN
            PERFORM cs9.rewrite_index(v_index.above::regclass, v_index.old::regclass);
        END IF;
        IF v_index.name <> (SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.oid = v_index.old) THEN
            EXECUTE format('ALTER INDEX %s RENAME TO %I', v_index.old::regclass, v_index.name);
        END IF;
    END LOOP;
    PERFORM cs9.rewrite_checks(v_new, v_old);
    EXECUTE format('ALTER TABLE %s RENAME TO %I', v_old, p_part);
    EXECUTE format('ALTER TABLE cs9_staging.%I SET SCHEMA %I', p_part, p_schema);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I.%I DEFAULT', v_new, p_schema, p_part);
END;
$adopt_partition$;
COMMENT ON FUNCTION cs9.adopt_partition(name, name, name) IS 'Makes a table that was set aside the one partition of its successor';
