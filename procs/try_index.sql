-- Purpose: put staged rows into an index like one of the live table, to see whether it takes them.
-- How:     an empty table like the live one, with that one index, gets the rows that p_doubtful is true for. It is dropped in
--          the same transaction, and is not logged. An insert is tried, as the publish does it; CREATE INDEX has a
--          search_path of its own since PostgreSQL 17.
-- Errors:  S9013 with what PostgreSQL said.
CREATE FUNCTION cs9.try_index(p_table_id integer, p_index regclass, p_staged text, p_doubtful text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $try_index$
#variable_conflict error
DECLARE
    v_trial   CONSTANT text := format('cs9_staging.%I', format('cs9_trial_%s', p_index::oid));
    v_index   record;
    v_columns text;
    v_context text;
BEGIN
    SELECT i.indrelid::regclass AS relation, c.relname, r.relkind = 'p' AS is_split, pg_get_indexdef(i.indexrelid) AS definition,
           format('CREATE %sINDEX %I ON %s%s ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, c.relname,
                  CASE WHEN r.relkind = 'p' THEN 'ONLY ' END, i.indrelid::regclass) AS head
    INTO STRICT v_index
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_class AS r ON r.oid = i.indrelid
    WHERE i.indexrelid = p_index;
    SELECT string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) INTO v_columns
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = v_index.relation AND a.attnum > 0 AND NOT a.attisdropped;

    EXECUTE format('CREATE UNLOGGED TABLE %s (LIKE %s INCLUDING STORAGE)', v_trial, v_index.relation);
    EXECUTE format('CREATE INDEX %I ON %s %s', v_index.relname, v_trial, substr(v_index.definition, length(v_index.head) + 1));
    BEGIN
        PERFORM set_config('search_path', cs9.table_path(p_table_id), true);
        EXECUTE format('INSERT INTO %s (%s) SELECT %2$s FROM %s WHERE %s', v_trial, v_columns, p_staged, p_doubtful);
        PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    EXCEPTION
        WHEN lock_not_available OR transaction_rollback OR insufficient_resources OR operator_intervention OR system_error THEN
            RAISE;
        WHEN assert_failure OR OTHERS THEN
            GET STACKED DIAGNOSTICS v_context = PG_EXCEPTION_CONTEXT;
            PERFORM cs9.cannot_evaluate(p_table_id, format('an insert into the index %s', p_index), SQLSTATE, SQLERRM, v_context);
    END;
    EXECUTE format('DROP TABLE %s', v_trial);
END;
$try_index$;
COMMENT ON FUNCTION cs9.try_index(integer, regclass, text, text) IS 'Puts staged rows into an index like one of the live table';
