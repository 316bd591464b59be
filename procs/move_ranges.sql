-- Purpose: the ranges in which the staged rows of a batched table are moved: one, or with several movers one for each,
--          of about the same size. Pages past the last row do not count: PostgreSQL extends a table by many at once.
CREATE FUNCTION cs9.move_ranges(p_run_id bigint, p_table_id integer, p_movers integer)
RETURNS TABLE (watermark tid, upto tid, rows_total bigint)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $move_ranges$
#variable_conflict error
DECLARE
    v_staged CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_pages  bigint := 0;
BEGIN
    IF p_movers > 1 THEN
        EXECUTE format('SELECT coalesce((max(ctid)::text::point)[0], -1)::bigint + 1 FROM %s', v_staged) INTO v_pages;
    END IF;
    FOR i IN 1 .. p_movers LOOP
        watermark := format('(%s,0)', v_pages * (i - 1) / p_movers)::tid;
        upto := CASE WHEN i < p_movers THEN format('(%s,0)', v_pages * i / p_movers) ELSE '(4294967294,65535)' END::tid;
        IF p_movers = 1 THEN
            rows_total := (SELECT t.rows_inserted + t.rows_upserted FROM cs9.run_table AS t
                           WHERE t.run_id = p_run_id AND t.table_id = p_table_id);
        ELSE
            EXECUTE format('SELECT count(*) FROM %s WHERE ctid >= $1 AND ctid < $2', v_staged)
            INTO rows_total USING watermark, upto;
        END IF;
        IF rows_total > 0 THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END;
$move_ranges$;
COMMENT ON FUNCTION cs9.move_ranges(bigint, integer, integer) IS 'The ranges in which the staged rows of a table are moved';
