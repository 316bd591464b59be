-- Purpose: ANALYZE a table that a run has published, a partition of it, or what was staged for it. Nobody needs it for
--          safety: what cannot be had is left, and said.
-- Returns: null; or why the table was not analyzed.
-- Locks:   SHARE UPDATE EXCLUSIVE, waited for no longer than the transaction's lock_timeout: autovacuum gives way by then.
CREATE FUNCTION cs9.analyze_table(p_table_id integer, p_relation text)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $analyze_table$
#variable_conflict error
BEGIN
    PERFORM set_config('search_path', cs9.table_path(p_table_id), true);  -- for what the expressions of an index call
    EXECUTE format('ANALYZE %s', p_relation);
    RETURN NULL;
EXCEPTION
    WHEN lock_not_available THEN
        RETURN format('not analyzed: %s', cs9.lock_holders(to_regclass(p_relation)));
    WHEN assert_failure OR OTHERS THEN
        -- an expression of an index or of statistics, or the table is gone
        RETURN format('not analyzed: %s', SQLERRM);
END;
$analyze_table$;
COMMENT ON FUNCTION cs9.analyze_table(integer, text) IS 'Analyzes a table, a partition of it or what was staged for it, or says why not';
