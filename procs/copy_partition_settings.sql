-- Purpose: storage parameters, statistics targets and column options of a partition, for its successor.
CREATE FUNCTION cs9.copy_partition_settings(p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $copy_partition_settings$
#variable_conflict error
DECLARE
    v_command text;
    v_analyze boolean := false;
BEGIN
    FOR v_command IN
        SELECT format('ALTER TABLE %s SET (%s)', p_staged, string_agg(format('%s%s = %L', c.prefix, o.option_name, o.option_value), ', '))
        FROM (
            SELECT '' AS prefix, t.reloptions FROM pg_catalog.pg_class AS t WHERE t.oid = p_leaf
            UNION ALL
            SELECT 'toast.', t.reloptions
            FROM pg_catalog.pg_class AS t
            WHERE t.oid = (SELECT l.reltoastrelid FROM pg_catalog.pg_class AS l WHERE l.oid = p_leaf)
        ) AS c
        CROSS JOIN LATERAL pg_options_to_table(c.reloptions) AS o
        HAVING count(*) > 0
    LOOP
        EXECUTE v_command;
    END LOOP;
    FOR v_command IN
        SELECT format('ALTER TABLE %s ALTER COLUMN %I SET %s', p_staged, l.attname, x.what)
        FROM pg_catalog.pg_attribute AS l
        JOIN pg_catalog.pg_attribute AS s ON s.attrelid = p_staged AND s.attname = l.attname
        CROSS JOIN LATERAL (
            SELECT format('STATISTICS %s', coalesce(l.attstattarget, -1)) AS what
            WHERE coalesce(l.attstattarget, -1) <> coalesce(s.attstattarget, -1)
            UNION ALL
            SELECT format('STORAGE %s', CASE l.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END)
            WHERE l.attstorage <> s.attstorage
            UNION ALL
            SELECT format('(%s)', (SELECT string_agg(format('%s = %L', o.option_name, o.option_value), ', ')
                                   FROM pg_options_to_table(l.attoptions) AS o))
            WHERE l.attoptions IS NOT NULL AND l.attoptions IS DISTINCT FROM s.attoptions
        ) AS x
        WHERE l.attrelid = p_leaf AND l.attnum > 0 AND NOT l.attisdropped
    LOOP
        EXECUTE v_command;
        v_analyze := true;
    END LOOP;
    IF v_analyze THEN
        EXECUTE format('ANALYZE %s', p_staged);
    END IF;
END;
$copy_partition_settings$;
COMMENT ON FUNCTION cs9.copy_partition_settings(regclass, regclass) IS 'Copies storage parameters and statistics targets of a partition';
