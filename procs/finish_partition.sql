-- Purpose: make a staged table a plain one, as the partition is whose place it takes: no control column, no trigger, no
--          check of its own; unique indexes become constraints where they are.
-- Contract: changes of the catalogue only. Nobody but the run knows the table.
CREATE FUNCTION cs9.finish_partition(p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $finish_partition$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        SELECT format('ALTER TABLE %s DETACH PARTITION %s', i.inhparent::regclass, p_staged)
        FROM pg_catalog.pg_inherits AS i
        WHERE i.inhrelid = p_staged
    LOOP
        EXECUTE v_command;
    END LOOP;

    EXECUTE format('DROP TRIGGER IF EXISTS cs9_guard ON %s', p_staged);
    EXECUTE format('ALTER TABLE %s DROP COLUMN cs9_run, DROP COLUMN cs9_plan, DROP COLUMN cs9_op', p_staged);
    FOR v_command IN
        -- checks that the partition does not have
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', p_staged, s.conname)
        FROM pg_catalog.pg_constraint AS s
        WHERE s.conrelid = p_staged AND s.contype = 'c' AND s.conname <> 'cs9_bound'
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS l
                          WHERE l.conrelid = p_leaf AND l.contype = 'c' AND l.conname = s.conname)
        UNION ALL
        -- defaults that differ: values of an identity were drawn from its sequence when the rows were staged
        SELECT format('ALTER TABLE %s ALTER COLUMN %I %s', p_staged, s.attname, coalesce('SET DEFAULT ' || pg_get_expr(ld.adbin, ld.adrelid), 'DROP DEFAULT'))
        FROM pg_catalog.pg_attribute AS s
        JOIN pg_catalog.pg_attribute AS l ON l.attrelid = p_leaf AND l.attname = s.attname
        LEFT JOIN pg_catalog.pg_attrdef AS sd ON sd.adrelid = s.attrelid AND sd.adnum = s.attnum
        LEFT JOIN pg_catalog.pg_attrdef AS ld ON ld.adrelid = l.attrelid AND ld.adnum = l.attnum
        WHERE s.attrelid = p_staged AND s.attnum > 0 AND s.attgenerated = ''
          AND pg_get_expr(sd.adbin, sd.adrelid) IS DISTINCT FROM pg_get_expr(ld.adbin, ld.adrelid)
        UNION ALL
        -- NOT NULL is a constraint with a name since PostgreSQL 18
        SELECT format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', p_staged, s.conname, l.conname)
        FROM pg_catalog.pg_constraint AS s
        JOIN pg_catalog.pg_attribute AS sa ON sa.attrelid = s.conrelid AND sa.attnum = s.conkey[1]
        JOIN pg_catalog.pg_constraint AS l ON l.conrelid = p_leaf AND l.contype = 'n' AND l.conname <> s.conname
        JOIN pg_catalog.pg_attribute AS la ON la.attrelid = l.conrelid AND la.attnum = l.conkey[1] AND la.attname = sa.attname
        WHERE s.conrelid = p_staged AND s.contype = 'n'
        UNION ALL
        SELECT format('ALTER TABLE %1$s ADD CONSTRAINT %2$I %3$s USING INDEX %2$I%4$s%5$s', p_staged,
                      x.staged_name,
                      CASE u.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END,
                      CASE WHEN u.condeferrable THEN ' DEFERRABLE' END,
                      CASE WHEN u.condeferred THEN ' INITIALLY DEFERRED' END)
        FROM pg_catalog.pg_constraint AS u
        JOIN cs9.index_pairs(p_leaf, p_staged) AS x ON x.live_index = u.conindid
        WHERE u.conrelid = p_leaf AND u.contype IN ('p', 'u')
        UNION ALL
        -- that of a staged table is FULL; an index that was dropped identifies nothing
        SELECT format('ALTER TABLE %s REPLICA IDENTITY %s', p_staged, CASE l.relreplident
                   WHEN 'd' THEN 'DEFAULT'
                   WHEN 'f' THEN 'FULL'
                   WHEN 'i' THEN coalesce((SELECT format('USING INDEX %I', x.staged_name)
                                           FROM cs9.index_pairs(p_leaf, p_staged) AS x
                                           JOIN pg_catalog.pg_index AS i ON i.indexrelid = x.live_index AND i.indisreplident), 'NOTHING')
                   ELSE 'NOTHING' END)
        FROM pg_catalog.pg_class AS l
        WHERE l.oid = p_leaf
        UNION ALL
        SELECT format('ALTER TABLE %s CLUSTER ON %I', p_staged, x.staged_name)
        FROM cs9.index_pairs(p_leaf, p_staged) AS x
        JOIN pg_catalog.pg_index AS i ON i.indexrelid = x.live_index AND i.indisclustered
    LOOP
        EXECUTE v_command;
    END LOOP;
    PERFORM cs9.copy_partition_comments(p_leaf, p_staged);
    PERFORM cs9.copy_partition_rights(p_leaf, p_staged);
END;
$finish_partition$;
COMMENT ON FUNCTION cs9.finish_partition(regclass, regclass) IS 'Makes a staged table as plain as the partition whose place it takes';
