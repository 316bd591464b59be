-- Purpose: the indexes of a partition, for its successor. The index that proved each key to be there once becomes the
--          primary key; the others are built now, those that somebody made by hand too.
-- Errors:  S9013 two staged rows have one value in a unique index.
CREATE FUNCTION cs9.build_partition_indexes(p_run_id bigint, p_table_id integer, p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $build_partition_indexes$
#variable_conflict error
DECLARE
    v_index  record;
    v_reason text;
BEGIN
    FOR v_index IN
        SELECT i.indisprimary, c.relname,
               x.staged_name,
               k.indexrelid::regclass AS key_index,
               format('CREATE %sINDEX %I ON %s USING ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                      x.staged_name, p_staged) AS head,
               format('CREATE %sINDEX %I ON %s USING ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                      c.relname, p_leaf) AS live_head,
               pg_get_indexdef(i.indexrelid) AS definition
        FROM pg_catalog.pg_index AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        CROSS JOIN LATERAL (SELECT cs9.staged_name(p_run_id, p_table_id, 'index', i.indexrelid) AS staged_name) AS x
        -- the index that proved each key to be there once, still under its own name
        LEFT JOIN LATERAL (
            SELECT s.indexrelid
            FROM pg_catalog.pg_index AS s
            JOIN pg_catalog.pg_class AS n ON n.oid = s.indexrelid
            WHERE i.indisprimary AND s.indrelid = p_staged AND s.indisunique AND NOT starts_with(n.relname, cs9.staged_name(p_run_id, p_table_id, 'index'))
        ) AS k ON true
        WHERE i.indrelid = p_leaf AND i.indisvalid
          AND to_regclass(format('cs9_staging.%I', x.staged_name)) IS NULL
        ORDER BY i.indisprimary DESC, c.relname COLLATE "C"
    LOOP
        IF v_index.indisprimary THEN
            EXECUTE format('ALTER INDEX %s RENAME TO %I', v_index.key_index, v_index.staged_name);
        ELSE
            EXECUTE v_index.head || substr(v_index.definition, length(v_index.live_head) + 1);
        END IF;
    END LOOP;
EXCEPTION
    WHEN unique_violation THEN
        GET STACKED DIAGNOSTICS v_reason = PG_EXCEPTION_DETAIL;
        PERFORM cs9.cannot_finish(p_table_id, format('two staged rows have one value in the unique index %I', v_index.relname),
            v_reason, 'Correct the rows.');
END;
$build_partition_indexes$;
COMMENT ON FUNCTION cs9.build_partition_indexes(bigint, integer, regclass, regclass) IS 'Builds the indexes of a partition on its successor';
