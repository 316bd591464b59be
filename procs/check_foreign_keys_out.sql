-- Purpose: every row that a staged row references must be there when the publish begins, and stay.
-- Contract: a referenced row that this very run would move, change or delete does not count: each step commits by itself.
-- Errors:  S9013 names the foreign key and the first row without its referenced row.
CREATE FUNCTION cs9.check_foreign_keys_out(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_foreign_keys_out$
#variable_conflict error
DECLARE
    v_staged text := cs9.staged_label(p_run_id, p_table_id);
    v_key    record;
    v_rows   text;
    v_found  boolean;
    v_row    text;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_key IN
        SELECT k.key_id, k.key_name, k.referenced,
               -- a partition may have a key for its own rows
               coalesce(pg_get_partition_constraintdef(k.referencing), 'true') AS bound,
               coalesce((to_jsonb(f) ->> 'conperiod')::boolean, false) AS of_periods,
               (SELECT string_agg(format('cs9_c.%I IS DISTINCT FROM NULL', a.attname), CASE f.confmatchtype WHEN 'f' THEN ' OR ' ELSE ' AND ' END)
                FROM pg_catalog.pg_attribute AS a
                WHERE a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey)) AS applies,
               (SELECT format('(%s) OR (%s)', cs9.run_deletes(p_run_id, t.table_id), cs9.changed_references(p_run_id, t.table_id, k.key_id))
                FROM cs9.run_table AS t
                WHERE t.run_id = p_run_id
                  AND k.referenced IN (SELECT r FROM cs9.with_partitions(to_regclass(cs9.table_label(t.table_id))) AS r)) AS gone
        FROM cs9.foreign_keys(p_table_id) AS k
        JOIN pg_catalog.pg_constraint AS f ON f.oid = k.key_id
        WHERE k.goes_out AND k.enforced
    LOOP
        IF v_key.of_periods THEN
            PERFORM cs9.cannot_finish(p_table_id, format('the foreign key %I is one of periods', v_key.key_name),
                'cs9gen cannot prove beforehand that the staged rows keep it.', 'Drop it.');
        END IF;
        v_rows := format('FROM %s AS cs9_c WHERE (%s) AND (%s) AND NOT EXISTS (SELECT FROM (SELECT * FROM %s WHERE (%s) IS NOT TRUE) AS cs9_p WHERE %s)',
            v_staged, v_key.bound, v_key.applies, cs9.own_rows(v_key.referenced), coalesce(v_key.gone, 'false'), cs9.foreign_key_match(v_key.key_id));
        EXECUTE format('SELECT EXISTS (SELECT %s)', v_rows) INTO v_found;
        IF v_found THEN
            EXECUTE format('SELECT (cs9_c.*)::text %s LIMIT 1', v_rows) INTO v_row;
            PERFORM cs9.cannot_finish(p_table_id, format('a staged row breaks the foreign key %I', v_key.key_name),
                format('No row of %s stays that the row %s could reference.', v_key.referenced, left(v_row, 200)),
                'Publish the referenced rows first, in a task of their own, or correct the row.');
        END IF;
    END LOOP;
END;
$check_foreign_keys_out$;
COMMENT ON FUNCTION cs9.check_foreign_keys_out(bigint, integer) IS 'Refuses staged rows whose referenced rows are missing';
