-- Purpose: what a partition is beside its rows, for its successor, where ALTER TABLE can say it: access method, tablespace,
--          storage parameters; statistics targets, storage, compression and options of its columns.
-- Contract: called when the staged table is made, for its rows to be written as those of the partition are, and again
--           before the switch: what is there already is left alone.
-- Errors:  S9013 the access method was changed since the rows were staged, and the server is too old to change it.
CREATE FUNCTION cs9.copy_partition_settings(p_table_id integer, p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $copy_partition_settings$
#variable_conflict error
DECLARE
    v_command text;
    v_analyze boolean;
BEGIN
    IF current_setting('server_version_num')::integer < 150000
       AND EXISTS (SELECT FROM pg_catalog.pg_class AS l JOIN pg_catalog.pg_class AS s ON s.oid = p_staged AND s.relam <> l.relam WHERE l.oid = p_leaf)
    THEN
        PERFORM cs9.cannot_finish(p_table_id, format('the access method of %s was changed since the rows were staged', p_leaf),
            'PostgreSQL 14 cannot change that of the staged table.', 'Discard the run and start it again.');
    END IF;
    FOR v_command, v_analyze IN
        SELECT format('ALTER TABLE %s %s', p_staged, x.what), x.samples
        FROM pg_catalog.pg_class AS l
        JOIN pg_catalog.pg_class AS s ON s.oid = p_staged
        LEFT JOIN pg_catalog.pg_class AS lt ON lt.oid = l.reltoastrelid
        LEFT JOIN pg_catalog.pg_class AS st ON st.oid = s.reltoastrelid
        CROSS JOIN LATERAL (
            SELECT 1 AS n, format('SET ACCESS METHOD %I', m.amname) AS what, false AS samples
            FROM pg_catalog.pg_am AS m
            WHERE m.oid = l.relam AND l.relam <> s.relam
            UNION ALL
            SELECT 2, format('SET TABLESPACE %I', cs9.tablespace_name(l.reltablespace)), false
            WHERE l.reltablespace <> s.reltablespace
            UNION ALL
            SELECT 3, o, false FROM cs9.option_changes(l.reloptions, s.reloptions, '') AS o
            UNION ALL
            SELECT 3, o, false FROM cs9.option_changes(lt.reloptions, st.reloptions, 'toast.') AS o
            UNION ALL
            SELECT 4, format('ALTER COLUMN %I %s', c.column_name, c.what), c.samples
            FROM cs9.column_changes(p_leaf, p_staged) AS c
        ) AS x
        WHERE l.oid = p_leaf
        ORDER BY x.n
    LOOP
        EXECUTE v_command;
        IF v_analyze THEN
            PERFORM cs9.analyze_staged(p_table_id, p_staged::text);
        END IF;
    END LOOP;
END;
$copy_partition_settings$;
COMMENT ON FUNCTION cs9.copy_partition_settings(integer, regclass, regclass) IS 'Copies what a partition is beside its rows: access method, tablespace, options, settings of columns';
