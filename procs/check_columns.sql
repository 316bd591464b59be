-- Purpose: the live table must have the columns that were staged: same names, types, collations, NOT NULL and generation.
-- Errors:  S9013 for a column added, dropped, retyped or changed since the rows were staged, or with a name of cs9gen.
CREATE FUNCTION cs9.check_columns(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_columns$
#variable_conflict error
DECLARE
    v_staged     regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_live       regclass := to_regclass(cs9.table_label(p_table_id));
    v_difference text;
BEGIN
    IF v_live IS NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, 'the table is not there any more', 'It was dropped or renamed.', 'Restore it.');
    END IF;
    -- they would be mistaken for those that the statements of a publish give a name
    SELECT format('Column %I.', a.attname) INTO v_difference
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = v_live AND a.attnum > 0 AND NOT a.attisdropped AND starts_with(a.attname, 'cs9_')
    ORDER BY a.attnum
    LIMIT 1;
    IF v_difference IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, 'it has a column whose name begins with cs9_, as those of cs9gen do', v_difference, 'Rename the column.');
    END IF;
    IF v_staged IS NULL THEN
        RETURN;
    END IF;

    SELECT format('Column %I: live %s, staged %s.', coalesce(l.attname, s.attname),
                  coalesce(concat_ws(' as ', l.shape, l.expression), 'not there'), coalesce(concat_ws(' as ', s.shape, s.expression), 'not there'))
    INTO v_difference
    FROM (
        SELECT a.attname, concat_ws(' ', cs9.type_name(a.atttypid, a.atttypmod), 'collate ' || nullif(a.attcollation, 0)::regcollation, CASE WHEN a.attnotnull THEN 'not null' END,
                                    CASE WHEN a.attgenerated <> '' THEN 'generated' END) AS shape,
               CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END AS expression
        FROM pg_catalog.pg_attribute AS a
        LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = v_live AND a.attnum > 0 AND NOT a.attisdropped
    ) AS l
    FULL JOIN (
        SELECT a.attname, concat_ws(' ', cs9.type_name(a.atttypid, a.atttypmod), 'collate ' || nullif(a.attcollation, 0)::regcollation, CASE WHEN a.attnotnull THEN 'not null' END,
                                    CASE WHEN a.attgenerated <> '' THEN 'generated' END) AS shape,
               CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END AS expression
        FROM pg_catalog.pg_attribute AS a
        LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = v_staged AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attname NOT IN ('cs9_run', 'cs9_plan', 'cs9_op')
    ) AS s ON s.attname = l.attname
    WHERE l.shape IS DISTINCT FROM s.shape OR NOT cs9.same_expression(v_live, l.expression, s.expression)
    ORDER BY coalesce(l.attname, s.attname)
    LIMIT 1;

    IF v_difference IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, 'its columns are not those that were staged', v_difference,
            'Change the definition and generate, rather than the table by hand; discard the run and start it again.');
    END IF;
END;
$check_columns$;
COMMENT ON FUNCTION cs9.check_columns(bigint, integer) IS 'Refuses a live table whose columns are not those that were staged';
