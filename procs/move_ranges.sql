-- Purpose: the ranges in which the staged rows of a batched table are moved: one, or with several movers one for each,
--          of as many pages.
-- Returns: rows_total is what a range is expected to hold, exact where there is one; the sum is exact.
CREATE FUNCTION cs9.move_ranges(p_run_id bigint, p_table_id integer, p_movers integer)
RETURNS TABLE (watermark tid, upto tid, rows_total bigint)
LANGUAGE plpgsql
STABLE
ROWS 2
SET search_path = pg_catalog, pg_temp
AS $move_ranges$
#variable_conflict error
DECLARE
    v_staged CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_pages  CONSTANT bigint := pg_relation_size(v_staged) / current_setting('block_size')::bigint;
    v_rows   CONSTANT bigint := (SELECT t.rows_inserted + t.rows_upserted FROM cs9.run_table AS t
                                 WHERE t.run_id = p_run_id AND t.table_id = p_table_id);
BEGIN
    FOR i IN 1 .. p_movers LOOP
        watermark := format('(%s,0)', v_pages * (i - 1) / p_movers)::tid;
        upto := CASE WHEN i < p_movers THEN format('(%s,0)', v_pages * i / p_movers) ELSE '(4294967294,65535)' END::tid;
        rows_total := v_rows * i / p_movers - v_rows * (i - 1) / p_movers;
        IF watermark < upto THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END;
$move_ranges$;
COMMENT ON FUNCTION cs9.move_ranges(bigint, integer, integer) IS 'The ranges in which the staged rows of a table are moved';
