-- Purpose: how long the longest staged value is of each column whose type sets no bound and that an index stores: one scan
--          of the staged rows for all of them, or none.
-- Contract: p_columns are the names as SQL writes them.
-- Returns: a JSON object by name: stored, as it lies there; whole, without compression, far too large where it is compressed.
CREATE FUNCTION cs9.column_sizes(p_staged text, p_columns text[])
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $column_sizes$
#variable_conflict error
DECLARE
    v_list  text;
    v_sizes jsonb;
BEGIN
    SELECT string_agg(format('max(pg_column_size(%1$s)), max(CASE WHEN pg_column_compression(%1$s) IS NULL THEN pg_column_size(%1$s) ELSE 1000000 END)', c.name), ', ' ORDER BY c.n)
    INTO v_list
    FROM unnest(p_columns) WITH ORDINALITY AS c (name, n);
    IF v_list IS NULL THEN
        RETURN '{}'::jsonb;
    END IF;
    EXECUTE format('SELECT to_jsonb(ARRAY[%s]) FROM %s', v_list, p_staged) INTO v_sizes;
    RETURN (
        SELECT jsonb_object_agg(c.name, jsonb_build_object('stored', coalesce((v_sizes ->> (c.n * 2 - 2)::integer)::integer, 0),
                                                           'whole', coalesce((v_sizes ->> (c.n * 2 - 1)::integer)::integer, 0)))
        FROM unnest(p_columns) WITH ORDINALITY AS c (name, n)
    );
END;
$column_sizes$;
COMMENT ON FUNCTION cs9.column_sizes(text, text[]) IS 'The longest staged value of each column';
