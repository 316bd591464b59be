-- Purpose: no staged row may collide, in any unique index of the live table, with another staged row or with a live
--          row that the run leaves in place.
-- Contract: an upsert may meet the live row of its own key. It may not take a value of a second unique index that a
--           live row of another key holds, even one that the run also changes: rows move one after another, so that a
--           swap of values would fail half-way.
-- Errors:  S9013 names the index and the values.
CREATE FUNCTION cs9.check_unique(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_unique$
#variable_conflict error
DECLARE
    v_staged text := cs9.staged_label(p_run_id, p_table_id);
    v_live   CONSTANT oid := to_regclass(cs9.table_label(p_table_id));
    v_stays  text := cs9.rows_that_stay(p_run_id, p_table_id, 'cs9_o');
    v_near   text := (SELECT coalesce(t.staged_values, 'true') FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = p_table_id);
    v_other  text;
    v_keys   name[];
    v_index  record;
    v_rows   text;
    v_values text;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    -- by the key's own operators: of citext, 'a' and 'A' are one key
    v_other := format('NOT (%s)', cs9.key_match(to_regclass(cs9.table_label(p_table_id)), 'cs9_s', 'cs9_l'));
    SELECT array_agg(k.name ORDER BY k.name) INTO v_keys
    FROM cs9.table_definition AS d
    CROSS JOIN unnest(d.keys) AS k (name)
    WHERE d.table_id = p_table_id;

    FOR v_index IN
        SELECT u.*, r.relation, coalesce(pg_get_partition_constraintdef(r.relation), 'true') AS bound
        FROM (SELECT t::oid AS relation FROM cs9.with_partitions(to_regclass(cs9.table_label(p_table_id))) AS t) AS r
        CROSS JOIN LATERAL cs9.unique_indexes(r.relation::regclass) AS u
    LOOP
        IF v_index.is_exclusion THEN
            PERFORM cs9.cannot_finish(p_table_id, format('it has the exclusion constraint %I', v_index.index_name),
                'cs9gen cannot prove beforehand that the staged rows keep it.', 'Drop the constraint.');
        END IF;

        -- the key itself is proved by the unique index on the staged rows; another index on its columns may compare otherwise
        IF NOT v_index.is_primary OR v_index.key_columns IS DISTINCT FROM v_keys THEN
            v_rows := format(
                CASE WHEN v_index.groups THEN
                    $staged$
                    FROM (SELECT %2$s FROM %3$s WHERE %4$s AND (%6$s)) AS cs9_s
                    WHERE %5$s GROUP BY %1$s HAVING count(*) > 1
                    $staged$
                ELSE
                    $pairs$
                    FROM (SELECT tableoid AS cs9_leaf, ctid AS cs9_ctid, %2$s FROM %3$s WHERE %4$s AND (%6$s)) AS cs9_s
                    JOIN (SELECT tableoid AS cs9_leaf, ctid AS cs9_ctid, %2$s FROM %3$s WHERE %4$s AND (%6$s)) AS cs9_l ON %7$s
                    WHERE (cs9_s.cs9_leaf, cs9_s.cs9_ctid) < (cs9_l.cs9_leaf, cs9_l.cs9_ctid)
                    $pairs$
                END,
                v_index.names, v_index.expressions, v_staged, v_index.predicate, v_index.comparable, v_index.bound, v_index.equal);
            IF cs9.evaluate(p_table_id, format('SELECT count(*) FROM (SELECT %s LIMIT 1) AS cs9_f', v_rows), format('the unique index %I', v_index.index_name)) > 0 THEN
                PERFORM set_config('search_path', cs9.table_path(p_table_id), true);
                EXECUTE format('SELECT concat_ws('', '', %s) %s LIMIT 1', CASE WHEN v_index.groups THEN v_index.names ELSE v_index.staged_names END, v_rows) INTO v_values;
                PERFORM cs9.cannot_finish(p_table_id, format('two staged rows have one value in the unique index %I', v_index.index_name),
                    format('The value is (%s).', v_values), 'Correct the rows.');
            END IF;
        END IF;

        v_rows := format(
            $live$
            FROM (SELECT *, %1$s FROM %2$s WHERE %3$s AND (%4$s)) AS cs9_s
            JOIN (SELECT *, %1$s FROM %5$s AS cs9_o WHERE %3$s AND %6$s) AS cs9_l ON %7$s
            WHERE cs9_s.cs9_op = 'i' OR %8$s
            $live$,
            v_index.expressions, v_staged, v_index.predicate, v_index.bound, v_index.relation::regclass,
            -- an index of the whole table has the columns by which it is split: partitions without staged rows need not be opened
            CASE v_index.relation WHEN v_live THEN format('%s AND (%s)', v_stays, v_near) ELSE v_stays END, v_index.equal, v_other);
        IF cs9.evaluate(p_table_id, format('SELECT count(*) FROM (SELECT %s LIMIT 1) AS cs9_f', v_rows), format('the unique index %I', v_index.index_name)) > 0 THEN
            PERFORM set_config('search_path', cs9.table_path(p_table_id), true);
            EXECUTE format('SELECT concat_ws('', '', %s) %s LIMIT 1', v_index.staged_names, v_rows) INTO v_values;
            PERFORM cs9.cannot_finish(p_table_id, format('a staged row collides with a live row in the unique index %I', v_index.index_name),
                format('The value is (%s).', v_values),
                'Delete the live row in plan 1, upsert instead of insert, or correct the row.');
        END IF;
    END LOOP;
END;
$check_unique$;
COMMENT ON FUNCTION cs9.check_unique(bigint, integer) IS 'Refuses staged rows that collide in a unique index of the live table';
