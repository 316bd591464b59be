-- Purpose: no row of another table may reference a live row that the run deletes, or values of it that the run changes,
--          whatever the foreign key does then: a restrict would stop the publish half-way, a cascade would lose or change
--          rows that nobody asked to touch.
-- Contract: of the table's own foreign key to itself only the rows that stay count. An atomic publish leaves a row alone
--           that was staged as it is, or updates it: cs9.deleted_for_good says which rows go.
-- Errors:  S9013 names the foreign key and the first row that references such a one.
CREATE FUNCTION cs9.check_foreign_keys_in(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_foreign_keys_in$
#variable_conflict error
DECLARE
    v_deletes text := cs9.deleted_for_good(p_run_id, p_table_id);
    v_key     record;
    v_rows    text;
    v_found   boolean;
    v_row     text;
BEGIN
    IF v_deletes = 'false' AND cs9.staged_label(p_run_id, p_table_id) IS NULL THEN
        RETURN;
    END IF;
    FOR v_key IN
        SELECT k.*, c.names, c.columns, g.what, g.gone, CASE WHEN k.goes_out THEN format('(%s) IS NOT TRUE', v_deletes) ELSE 'true' END AS stays
        FROM cs9.foreign_keys(p_table_id) AS k
        CROSS JOIN LATERAL (
            SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY s.n) AS names, string_agg(format('cs9_c.%I', a.attname), ', ' ORDER BY s.n) AS columns
            FROM pg_catalog.pg_constraint AS f
            CROSS JOIN LATERAL generate_subscripts(f.conkey, 1) AS s (n)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[s.n]
            WHERE f.oid = k.key_id
        ) AS c
        CROSS JOIN LATERAL (
            VALUES ('rows that the run deletes', v_deletes),
                   ('values that the run changes', cs9.changed_references(p_run_id, p_table_id, k.key_id))
        ) AS g (what, gone)
        WHERE k.comes_in AND k.enforced AND g.gone <> 'false'
    LOOP
        IF row_security_active(v_key.referencing) THEN
            PERFORM cs9.cannot_finish(p_table_id, format('row-level security of %s hides rows from role %I', v_key.referencing, current_user),
                format('They may reference %s, by the foreign key %I.', v_key.what, v_key.key_name),
                'Publish as the owner of that table, or as a role with BYPASSRLS.');
        END IF;
        v_rows := format('FROM (SELECT * FROM %s WHERE %s) AS cs9_c JOIN (SELECT * FROM %s WHERE %s) AS cs9_p ON %s',
            cs9.own_rows(v_key.referencing), v_key.stays, cs9.own_rows(v_key.referenced), v_key.gone, cs9.foreign_key_match(v_key.key_id));
        EXECUTE format('SELECT EXISTS (SELECT %s)', v_rows) INTO v_found;
        IF v_found THEN
            EXECUTE format('SELECT ROW(%s)::text %s LIMIT 1', v_key.columns, v_rows) INTO v_row;
            PERFORM cs9.cannot_finish(p_table_id, format('%s are referenced by the foreign key %I', v_key.what, v_key.key_name),
                format('A row of %s with (%s) = %s references one of them.', v_key.referencing, v_key.names, left(v_row, 200)),
                'Leave the referenced rows as they are, or delete the referencing rows before.');
        END IF;
    END LOOP;
END;
$check_foreign_keys_in$;
COMMENT ON FUNCTION cs9.check_foreign_keys_in(bigint, integer) IS 'Refuses deletes and changes of live rows that other tables reference';
