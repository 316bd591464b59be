-- Purpose: the statements by which a publish writes staged rows into a table, for one row each.
-- Returns:
--   staged     which staged rows are meant
--   wanted     which of them, beside the live row of their key, if there is one: cs9_s and cs9_l, and whether it is cs9_deleted
--   statement  cs9_row() stands for the condition that picks the staged row
--   place      the same: what takes a live row that is in the way out, as the run deletes; null where nothing may
CREATE FUNCTION cs9.trial_writes(p_run_id bigint, p_table_id integer)
RETURNS TABLE (staged text, wanted text, statement text, place text)
LANGUAGE plpgsql
STABLE
ROWS 5
SET search_path = pg_catalog, pg_temp
AS $trial_writes$
#variable_conflict error
DECLARE
    v_live    CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_staged  CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_mode    CONSTANT text := cs9.publish_mode_of(p_run_id, p_table_id);
    v_place   CONSTANT boolean := v_mode = 'atomic' AND cs9.replaces_rows(p_table_id);
    v_makes   text;  -- place, as the run does; null where it deletes nothing
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
    v_match   CONSTANT text := cs9.key_match(v_live, 'cs9_s', 'cs9_l');
    v_keys    name[];
    v_column  record;
    v_insert  text;
BEGIN
    SELECT d.keys INTO STRICT v_keys FROM cs9.table_definition AS d WHERE d.table_id = p_table_id;
    SELECT string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) AS names,
           string_agg(format('cs9_s.%I', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE w.is_set) AS of_staged,
           string_agg(format('cs9_l.%I', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE w.is_set) AS of_live,
           string_agg(format('%1$I = excluded.%1$I', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE w.is_set) AS from_excluded,
           string_agg(format('%1$I = cs9_s.%1$I', a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE w.is_set) AS from_staged,
           bool_or(a.attidentity = 'a') AS is_always,
           format('cs9_l.%I IS NOT DISTINCT FROM NULL', v_keys[1]) AS is_new
    INTO v_column
    FROM pg_catalog.pg_attribute AS a
    CROSS JOIN LATERAL (SELECT a.attname <> ALL (v_keys) AND a.attidentity <> 'a' AS is_set) AS w
    WHERE a.attrelid = v_live AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    v_insert := format('INSERT INTO %1$s AS cs9_l (%2$s)%3$s SELECT %2$s FROM %4$s WHERE cs9_row()', v_live, v_column.names,
                       CASE WHEN v_column.is_always THEN ' OVERRIDING SYSTEM VALUE' END, v_staged);

    staged := CASE v_mode WHEN 'atomic' THEN 'true' ELSE 'cs9_op = ''i''' END;
    statement := v_insert;
    wanted := v_column.is_new;
    RETURN NEXT;
    IF v_deletes <> 'false' AND (v_mode = 'batched' OR v_place) THEN
        v_makes := CASE
            WHEN v_mode = 'batched' AND cs9.user_triggers(v_live, 8) IS NOT NULL
                 AND EXISTS (SELECT FROM cs9.run_delete_steps(p_run_id, p_table_id) AS s WHERE s.kind = 'truncate') THEN format('TRUNCATE TABLE %s', v_live)
            ELSE format('DELETE FROM %s AS cs9_l USING (SELECT * FROM %s WHERE cs9_row()) AS cs9_s WHERE %s', v_live, v_staged, v_match)
        END;
        wanted := 'cs9_l.cs9_deleted';
        place := v_makes;
        RETURN NEXT;
        place := NULL;
    END IF;

    IF v_mode = 'atomic' THEN
        wanted := format('NOT (%s) AND ROW(%s)::record *<> ROW(%s)::record', v_column.is_new, v_column.of_staged, v_column.of_live);
        statement := format('UPDATE %s AS cs9_l SET %s FROM (SELECT * FROM %s WHERE cs9_row()) AS cs9_s WHERE %s',
                            v_live, v_column.from_staged, v_staged, v_match);
        IF v_column.from_staged IS NOT NULL AND NOT v_place THEN
            RETURN NEXT;
        END IF;
        RETURN;
    END IF;
    staged := 'cs9_op = ''u''';
    statement := format('%s ON CONFLICT (%s) %s', v_insert, (SELECT string_agg(format('%I', k), ', ') FROM unnest(v_keys) AS k),
                        coalesce('DO UPDATE SET ' || v_column.from_excluded, 'DO NOTHING'));
    wanted := v_column.is_new;
    RETURN NEXT;
    IF v_makes IS NOT NULL THEN
        wanted := 'cs9_l.cs9_deleted';
        place := v_makes;
        RETURN NEXT;
        place := NULL;
    END IF;
    IF v_column.from_excluded IS NOT NULL THEN
        wanted := format('NOT cs9_l.cs9_deleted AND ROW(%s)::record *<> ROW(%s)::record', v_column.of_staged, v_column.of_live);
        RETURN NEXT;
    END IF;
END;
$trial_writes$;
COMMENT ON FUNCTION cs9.trial_writes(bigint, integer) IS 'The statements that write staged rows into a table, for one row each';
