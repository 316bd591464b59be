-- Purpose: staged rows and live rows are matched by the primary key of the live table, which must be that of the definition;
--          an upsert cannot rely on one that is deferrable (ON CONFLICT takes none), and it asks every unique index on
--          just these columns.
-- Errors:  S9013.
CREATE FUNCTION cs9.check_key(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_key$
#variable_conflict error
DECLARE
    v_live      CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_mode      CONSTANT text := cs9.publish_mode_of(p_run_id, p_table_id);
    v_keys      name[];
    v_immediate boolean;
    v_deferred  text;
BEGIN
    SELECT array_agg(k.name ORDER BY k.name) INTO v_keys
    FROM cs9.table_definition AS d
    CROSS JOIN unnest(d.keys) AS k (name)
    WHERE d.table_id = p_table_id;
    SELECT CASE WHEN bool_or(i.indisprimary) THEN bool_and(i.indimmediate) END,
           min(CASE WHEN i.indisprimary THEN 'its primary key' ELSE format('the unique constraint %I on its key', c.relname) END) FILTER (WHERE NOT i.indimmediate)
    INTO v_immediate, v_deferred
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid = v_live AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
      AND v_keys = ARRAY (
          SELECT a.attname
          FROM generate_series(1, i.indnkeyatts) AS k (n)
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.n - 1]
          ORDER BY a.attname);

    IF v_immediate IS NULL AND (v_mode = 'atomic' OR cs9.staged_label(p_run_id, p_table_id) IS NOT NULL) THEN
        PERFORM cs9.cannot_finish(p_table_id, format('its primary key is not (%s)', array_to_string(v_keys, ', ')),
            'Staged rows are matched with live rows by the key of the definition.', 'Make it the primary key again.');
    ELSIF NOT v_immediate AND v_mode = 'batched' AND EXISTS (
        SELECT FROM cs9.run_table AS t WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND t.rows_upserted > 0
    ) THEN
        PERFORM cs9.cannot_finish(p_table_id, format('%s is deferrable', v_deferred), 'PostgreSQL upserts by no such key.',
            'Make it NOT DEFERRABLE, delete and insert instead of upserting, or publish the run atomic: SELECT cs9.set_publish_mode(task, run_key, ''atomic'').');
    END IF;
END;
$check_key$;
COMMENT ON FUNCTION cs9.check_key(bigint, integer) IS 'Refuses a live table whose primary key is not that of its definition';
