-- Purpose: no row of another table may reference a live row that the run deletes, whatever its ON DELETE action:
--          a restrict would stop the publish half-way, a cascade would lose rows that nobody asked to delete.
-- Contract: of the table's own foreign key to itself only the rows that stay count. An atomic publish leaves a row alone
--           that was staged as it is, or updates it: cs9.deleted_for_good says which rows go.
-- Errors:  S9013 names the foreign key and the first row that references a deleted one.
CREATE FUNCTION cs9.check_foreign_keys_in(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_foreign_keys_in$
#variable_conflict error
DECLARE
    v_deletes text := cs9.deleted_for_good(p_run_id, p_table_id);
    v_key     record;
    v_row     text;
BEGIN
    IF v_deletes = 'false' THEN
        RETURN;
    END IF;
    FOR v_key IN
        SELECT f.oid, f.conname, f.conrelid::regclass::text AS referencing,
               CASE WHEN f.conrelid = f.confrelid THEN format('NOT (%s)', v_deletes) ELSE 'true' END AS stays
        FROM pg_catalog.pg_constraint AS f
        WHERE f.contype = 'f' AND f.conparentid = 0
          AND f.confrelid = to_regclass(cs9.table_label(p_table_id))
        ORDER BY f.conname
    LOOP
        EXECUTE format(
            'SELECT c::text FROM (SELECT * FROM %s WHERE %s) AS c JOIN (SELECT * FROM %s WHERE %s) AS p ON %s LIMIT 1',
            v_key.referencing, v_key.stays, cs9.table_label(p_table_id), v_deletes, cs9.foreign_key_match(v_key.oid))
        INTO v_row;
        IF v_row IS NOT NULL THEN
            PERFORM cs9.cannot_finish(p_table_id, format('rows that the run deletes are referenced by the foreign key %I', v_key.conname),
                format('The row %s of %s references one of them.', left(v_row, 200), v_key.referencing),
                'Upsert the referenced rows instead of deleting them, or delete the referencing rows before.');
        END IF;
    END LOOP;
END;
$check_foreign_keys_in$;
COMMENT ON FUNCTION cs9.check_foreign_keys_in(bigint, integer) IS 'Refuses deletes of live rows that other tables reference';
