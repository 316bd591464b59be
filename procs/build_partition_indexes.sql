-- Purpose: the indexes of a partition, for its successor: those that somebody made by hand too. The index that proved each key
--          to be there once serves as the primary key. What the partition has no longer goes.
-- Contract: can be called again, behind the lock too: what is there already is kept.
-- Errors:  S9013 two staged rows have one value in a unique index; an index that cannot be built alike.
CREATE FUNCTION cs9.build_partition_indexes(p_run_id bigint, p_table_id integer, p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $build_partition_indexes$
#variable_conflict error
DECLARE
    v_index  record;
    v_text   text;
    v_number integer := 0;
    v_name   name;
    v_same   boolean;
    v_reason text;
BEGIN
    FOR v_index IN
        WITH pair AS MATERIALIZED (
            SELECT p.*, i.indkey, i.indisunique, c.relam
            FROM cs9.index_pairs(p_leaf, p_staged) AS p
            LEFT JOIN pg_catalog.pg_index AS i ON i.indexrelid = p.live_index
            LEFT JOIN pg_catalog.pg_class AS c ON c.oid = p.live_index
        )
        SELECT p.staged_index
        FROM pair AS p
        JOIN pg_catalog.pg_class AS c ON c.oid = p.staged_index AND NOT c.relispartition
        WHERE p.live_index IS NULL
           -- ATTACH PARTITION takes the first index of these columns, in whatever direction
           OR EXISTS (SELECT FROM pair AS o
                      WHERE o.indkey = p.indkey AND o.indisunique = p.indisunique AND o.relam = p.relam
                        AND (o.parent_index < p.parent_index OR p.parent_index IS NULL AND o.parent_index IS NOT NULL)
                        AND (o.staged_index IS NULL OR o.staged_index::oid > p.staged_index::oid))
    LOOP
        EXECUTE format('DROP INDEX %s', v_index.staged_index);
    END LOOP;

    FOR v_index IN
        SELECT p.live_name AS relname, p.live_index, cs9.index_shape(p.live_index) AS shape
        FROM cs9.index_pairs(p_leaf, p_staged) AS p
        WHERE p.staged_index IS NULL
        ORDER BY p.parent_index, p.live_name COLLATE "C"
    LOOP
        v_same := false;
        FOR v_text IN SELECT r FROM cs9.readings(cs9.index_tail(v_index.live_index)) AS r LOOP
            LOOP
                v_number := v_number + 1;
                v_name := cs9.staged_name(p_run_id, p_table_id, 'index', p_staged::oid, v_number::text::name);
                EXIT WHEN to_regclass(format('cs9_staging.%I', v_name)) IS NULL;
            END LOOP;
            PERFORM set_config('search_path', cs9.table_path(p_table_id), true);  -- for what the expressions of the index call
            EXECUTE cs9.index_like(v_index.live_index, v_name, p_staged, v_text);
            PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
            v_same := cs9.index_shape(format('cs9_staging.%I', v_name)::regclass) = v_index.shape;
            EXIT WHEN v_same;
            EXECUTE format('DROP INDEX cs9_staging.%I', v_name);
        END LOOP;
        IF NOT v_same THEN
            PERFORM cs9.cannot_finish(p_table_id, format('the index %I of %s prints otherwise than it was written', v_index.relname, p_leaf),
                format('What PostgreSQL prints of it means another index to it: %s.', v_index.shape),
                'Drop it and create it again as pg_get_indexdef prints it.');
        END IF;
    END LOOP;
    PERFORM cs9.copy_index_settings(p_leaf, p_staged);
EXCEPTION
    WHEN unique_violation THEN
        GET STACKED DIAGNOSTICS v_reason = PG_EXCEPTION_DETAIL;
        PERFORM cs9.cannot_finish(p_table_id, format('two staged rows have one value in the unique index %I', v_index.relname),
            v_reason, 'Correct the rows.');
END;
$build_partition_indexes$;
COMMENT ON FUNCTION cs9.build_partition_indexes(bigint, integer, regclass, regclass) IS 'Builds the indexes of a partition on its successor';
