-- Purpose: whether a changed row of an atomic table must be deleted and inserted anew, because an update in place could
--          not do it: values of a second unique index may change places between rows, and an identity that is
--          GENERATED ALWAYS takes no update.
CREATE FUNCTION cs9.replaces_rows(p_table_id integer)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $replaces_rows$
#variable_conflict error
DECLARE
    v_live CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
BEGIN
    RETURN EXISTS (
        SELECT
        FROM pg_catalog.pg_index AS i
        WHERE i.indisunique AND NOT i.indisprimary
          AND i.indrelid IN (SELECT r FROM cs9.with_partitions(v_live) AS r)
    ) OR EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = v_live AND a.attidentity = 'a' AND NOT a.attisdropped
    );
END;
$replaces_rows$;
COMMENT ON FUNCTION cs9.replaces_rows(integer) IS 'Whether changed rows of an atomic table are deleted and inserted anew';
