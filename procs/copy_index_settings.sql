-- Purpose: tablespace, storage parameters and statistics targets of the indexes of a partition, for those of its successor.
-- Contract: each index has its like: cs9.build_partition_indexes has built it.
CREATE FUNCTION cs9.copy_index_settings(p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $copy_index_settings$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        SELECT format('ALTER INDEX %s %s', p.staged_index, x.what)
        FROM cs9.index_pairs(p_leaf, p_staged) AS p
        JOIN pg_catalog.pg_class AS l ON l.oid = p.live_index
        JOIN pg_catalog.pg_class AS s ON s.oid = p.staged_index
        CROSS JOIN LATERAL (
            SELECT format('SET TABLESPACE %I', cs9.tablespace_name(l.reltablespace)) AS what
            WHERE l.reltablespace <> s.reltablespace
            UNION ALL
            SELECT o FROM cs9.option_changes(l.reloptions, s.reloptions, '') AS o
            UNION ALL
            SELECT format('ALTER COLUMN %s SET STATISTICS %s', la.attnum, coalesce(la.attstattarget, -1))
            FROM pg_catalog.pg_attribute AS la
            JOIN pg_catalog.pg_attribute AS sa ON sa.attrelid = p.staged_index AND sa.attnum = la.attnum
            WHERE la.attrelid = p.live_index AND coalesce(la.attstattarget, -1) <> coalesce(sa.attstattarget, -1)
        ) AS x
    LOOP
        EXECUTE v_command;
    END LOOP;
END;
$copy_index_settings$;
COMMENT ON FUNCTION cs9.copy_index_settings(regclass, regclass) IS 'Copies tablespace, storage parameters and statistics targets of indexes';
