-- Purpose: ANALYZE what a run staged for a table, for the statements of its publish to be planned well. They do the same without.
-- Contract: a NOTICE says why it could not be.
CREATE FUNCTION cs9.analyze_staged(p_table_id integer, p_staged text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $analyze_staged$
#variable_conflict error
DECLARE
    v_note CONSTANT text := cs9.analyze_table(p_table_id, p_staged);
BEGIN
    IF v_note IS NOT NULL THEN
        RAISE NOTICE '%: %', p_staged, v_note;
    END IF;
END;
$analyze_staged$;
COMMENT ON FUNCTION cs9.analyze_staged(integer, text) IS 'Analyzes what a run staged for a table, or says why not';
