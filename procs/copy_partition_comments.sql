-- Purpose: the comments on a partition, its columns, constraints and indexes, for its successor.
CREATE FUNCTION cs9.copy_partition_comments(p_run_id bigint, p_table_id integer, p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $copy_partition_comments$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        -- the table's first: without one, that of the staged table goes
        SELECT format('COMMENT ON TABLE %s IS %L', p_staged, obj_description(p_leaf, 'pg_class'))
        UNION ALL
        SELECT format('COMMENT ON COLUMN %s.%I IS %L', p_staged, a.attname, col_description(p_leaf, a.attnum))
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = p_leaf AND NOT a.attisdropped AND col_description(p_leaf, a.attnum) IS NOT NULL
        UNION ALL
        SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L',
                      CASE c.contype WHEN 'c' THEN c.conname ELSE cs9.staged_name(p_run_id, p_table_id, 'index', c.conindid) END,
                      p_staged, obj_description(c.oid, 'pg_constraint'))
        FROM pg_catalog.pg_constraint AS c
        WHERE c.conrelid = p_leaf AND c.contype IN ('c', 'p', 'u') AND obj_description(c.oid, 'pg_constraint') IS NOT NULL
        UNION ALL
        SELECT format('COMMENT ON INDEX cs9_staging.%I IS %L', cs9.staged_name(p_run_id, p_table_id, 'index', i.indexrelid),
                      obj_description(i.indexrelid, 'pg_class'))
        FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = p_leaf AND obj_description(i.indexrelid, 'pg_class') IS NOT NULL
    LOOP
        EXECUTE v_command;
    END LOOP;
END;
$copy_partition_comments$;
COMMENT ON FUNCTION cs9.copy_partition_comments(bigint, integer, regclass, regclass) IS 'Copies the comments on a partition and on what belongs to it';
