-- Purpose: the comments on a partition, its columns, constraints and indexes, for its successor.
CREATE FUNCTION cs9.copy_partition_comments(p_leaf regclass, p_staged regclass)
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
        SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', coalesce(p.staged_name, c.conname), p_staged, obj_description(c.oid, 'pg_constraint'))
        FROM pg_catalog.pg_constraint AS c
        LEFT JOIN cs9.index_pairs(p_leaf, p_staged) AS p ON p.live_index = c.conindid
        WHERE c.conrelid = p_leaf AND c.contype IN ('c', 'p', 'u', 'n') AND obj_description(c.oid, 'pg_constraint') IS NOT NULL
        UNION ALL
        SELECT format('COMMENT ON INDEX %s IS %L', p.staged_index, obj_description(p.live_index, 'pg_class'))
        FROM cs9.index_pairs(p_leaf, p_staged) AS p
        WHERE obj_description(p.live_index, 'pg_class') IS NOT NULL
    LOOP
        EXECUTE v_command;
    END LOOP;
END;
$copy_partition_comments$;
COMMENT ON FUNCTION cs9.copy_partition_comments(regclass, regclass) IS 'Copies the comments on a partition and on what belongs to it';
