-- Purpose: which live rows of a table a publish really deletes, as an expression like that of cs9.run_deletes. Batched
--          deletes all that the run deletes, before it inserts; atomic only those that were not staged again.
CREATE FUNCTION cs9.deleted_for_good(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $deleted_for_good$
#variable_conflict error
DECLARE
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
    v_staged  CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_live    CONSTANT text := cs9.table_label(p_table_id);
    v_same    text;
BEGIN
    IF v_deletes = 'false' OR v_staged IS NULL OR cs9.publish_mode_of(p_run_id, p_table_id) <> 'atomic' THEN
        RETURN v_deletes;
    END IF;
    -- a row that is deleted and inserted anew is gone in between
    IF cs9.replaces_rows(p_table_id) THEN
        SELECT format('ROW(%s)::record *= ROW(%s)::record', string_agg(format('cs9_s.%I', a.attname), ', ' ORDER BY a.attnum),
                      string_agg(format('cs9_l.%I', a.attname), ', ' ORDER BY a.attnum))
        INTO v_same
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = to_regclass(v_live) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    END IF;
    RETURN format('(%s) AND (tableoid, ctid) IN (SELECT cs9_l.tableoid, cs9_l.ctid FROM %s AS cs9_l WHERE NOT EXISTS (SELECT FROM %s AS cs9_s WHERE %s AND %s))',
                  v_deletes, v_live, v_staged, cs9.key_match(to_regclass(v_live), 'cs9_s', 'cs9_l'), coalesce(v_same, 'true'));
END;
$deleted_for_good$;
COMMENT ON FUNCTION cs9.deleted_for_good(bigint, integer) IS 'Expression that is true for the live rows that a publish really deletes';
