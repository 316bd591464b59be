-- Purpose: split staged rows that lie in one heap and go to several partitions, so that each part can take the place of one.
--          Only partitions to which rows go are made, and PostgreSQL itself routes the rows.
-- Contract: does nothing where it was done, or where all rows go to one partition: their table takes its place as it is.
--           The heap stays: the run can be published in another mode.
CREATE FUNCTION cs9.split_rows(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET default_table_access_method = heap
AS $split_rows$
#variable_conflict error
DECLARE
    v_live       CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_heap       CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_split      CONSTANT name := cs9.staged_name(p_run_id, p_table_id, 'split');
    v_leaves     CONSTANT regclass[] := ARRAY (SELECT l FROM cs9.staged_leaves(p_run_id, p_table_id) AS l);
    v_definition cs9.table_definition;
    v_columns    text;
BEGIN
    IF cardinality(v_leaves) < 2 OR cs9.split_of(p_run_id, p_table_id) IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT d.* INTO STRICT v_definition FROM cs9.table_definition AS d WHERE d.table_id = p_table_id;
    EXECUTE format(
        'CREATE TABLE cs9_staging.%I (LIKE %I.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED '
        'INCLUDING STORAGE INCLUDING COMPRESSION) PARTITION BY %s',
        v_split, v_definition.schema_name, v_definition.staging_name, pg_get_partkeydef(v_live));
    PERFORM cs9.split_staged(p_run_id, p_table_id, v_split, v_leaves);

    SELECT string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) INTO v_columns
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = v_heap AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    EXECUTE format('INSERT INTO cs9_staging.%I (%s) SELECT %2$s FROM %3$s', v_split, v_columns, v_heap);
    EXECUTE format('CREATE UNIQUE INDEX %I ON cs9_staging.%I (%s)', cs9.staged_name(p_run_id, p_table_id, 'splitkey'), v_split,
                   (SELECT string_agg(format('%I', k.name), ', ' ORDER BY k.ordinality) FROM unnest(v_definition.keys) WITH ORDINALITY AS k (name, ordinality)));
    PERFORM cs9.analyze_staged(p_table_id, format('cs9_staging.%I', v_split));
    UPDATE cs9.run_table AS t SET split_name = v_split WHERE t.run_id = p_run_id AND t.table_id = p_table_id;
END;
$split_rows$;
COMMENT ON FUNCTION cs9.split_rows(bigint, integer) IS 'Splits staged rows that lie in one heap and go to several partitions';
