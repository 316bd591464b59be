-- Purpose: the one place that raises S9013: a publish that could not finish must not begin.
CREATE FUNCTION cs9.cannot_finish(p_table_id integer, p_reason text, p_detail text, p_hint text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $cannot_finish$
#variable_conflict error
BEGIN
    RAISE EXCEPTION 'publishing into % could not finish: %', cs9.table_label(p_table_id), p_reason
        USING ERRCODE = 'S9013',
              DETAIL = p_detail,
              HINT = p_hint || ' No live row of the table was touched.',
              SCHEMA = (SELECT d.schema_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id),
              TABLE = (SELECT d.table_name FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
END;
$cannot_finish$;
COMMENT ON FUNCTION cs9.cannot_finish(integer, text, text, text) IS 'Raises S9013: a publish that could not finish must not begin';
