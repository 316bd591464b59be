-- Purpose: which live rows of a table a publish changes in the columns that a foreign key references: whoever references
--          the old values stands in its way, or would be changed along. Keys are never changed, only other unique values.
-- Returns: an expression like that of cs9.run_deletes; 'false' when there is none.
CREATE FUNCTION cs9.changed_references(p_run_id bigint, p_table_id integer, p_key_id oid)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $changed_references$
#variable_conflict error
DECLARE
    v_staged  CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_live    CONSTANT text := cs9.table_label(p_table_id);
    v_differs text;
BEGIN
    SELECT format('ROW(%s)::record *<> ROW(%s)::record', string_agg(format('cs9_l.%I', a.attname), ', ' ORDER BY a.attnum),
                  string_agg(format('cs9_s.%I', a.attname), ', ' ORDER BY a.attnum))
    INTO v_differs
    FROM pg_catalog.pg_constraint AS f
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = f.confrelid AND a.attnum = ANY (f.confkey)
    WHERE f.oid = p_key_id
      AND a.attname <> ALL ((SELECT d.keys FROM cs9.table_definition AS d WHERE d.table_id = p_table_id)::name[])
    HAVING count(*) > 0;
    IF v_staged IS NULL OR v_differs IS NULL THEN
        RETURN 'false';
    END IF;
    RETURN format('(tableoid, ctid) IN (SELECT cs9_l.tableoid, cs9_l.ctid FROM %s AS cs9_l JOIN %s AS cs9_s ON %s WHERE %s)',
                  v_live, v_staged, cs9.key_match(to_regclass(v_live), 'cs9_s', 'cs9_l'), v_differs);
END;
$changed_references$;
COMMENT ON FUNCTION cs9.changed_references(bigint, integer, oid) IS 'Expression that is true for the live rows whose referenced values a publish changes';
