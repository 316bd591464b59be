-- Purpose: a row must fit on a page of the live table. The run's own table took it, with control columns more; but the live
--          table may have more columns that were dropped, another order of columns, and columns whose values may not be
--          moved out of the row (storage PLAIN).
-- How:     from the types alone where that does; else by one scan, which measures rows of the live table's shape with each
--          value that can be moved out reduced to what stays of it.
-- Errors:  S9013.
CREATE FUNCTION cs9.check_row_size(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_row_size$
#variable_conflict error
DECLARE
    c_moved_out CONSTANT integer := 18;
    v_staged    CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_page      CONSTANT integer := current_setting('block_size')::integer - 32;
    v_relation  record;
    v_bytes     bigint;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_relation IN
        SELECT r.relation, s.shape
        FROM (
            SELECT to_regclass(cs9.table_label(p_table_id))::oid AS relation
            UNION
            SELECT l FROM cs9.touched_leaves(p_run_id, p_table_id) AS l
        ) AS r
        CROSS JOIN LATERAL (
            -- header, a bit for each column that ever was, each value aligned
            SELECT 32 + max(a.attnum) / 8 + sum(CASE WHEN a.attisdropped THEN 0
                                                     WHEN a.attlen > 0 THEN a.attlen + 7
                                                     WHEN a.attstorage <> 'p' THEN c_moved_out + 7
                                                     ELSE coalesce(cs9.value_bound(a.atttypid, a.atttypmod), v_page) + 7 END) AS most,
                   format('%s + pg_column_size(ROW(%s))', count(*) FILTER (WHERE a.attisdropped) / 8 + 8,
                          string_agg(CASE
                              WHEN a.attlen > 0 THEN format('%I', a.attname)
                              WHEN a.attstorage <> 'p' THEN format('substr(decode(%L, ''hex''), 1, least(%s, coalesce(pg_column_size(%I), 1)) - 1)', repeat('00', c_moved_out), c_moved_out, a.attname)
                              -- without the compression that it will not have
                              ELSE format('decode(repeat(''00'', least(%2$s, CASE WHEN pg_column_compression(%1$I) IS NULL THEN coalesce(pg_column_size(%1$I), 0) ELSE %3$s END)), ''hex'')',
                                          a.attname, v_page + 1, CASE WHEN a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'bytea'::regtype) THEN format('octet_length(%I)', a.attname) ELSE (v_page + 1)::text END)
                          END, ', ' ORDER BY a.attnum) FILTER (WHERE NOT a.attisdropped)) AS shape
            FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid = r.relation AND a.attnum > 0
        ) AS s
        WHERE s.most > v_page
        ORDER BY r.relation
    LOOP
        EXECUTE format('SELECT max(%s) FROM %s', v_relation.shape, v_staged) INTO v_bytes;
        IF v_bytes > v_page THEN
            PERFORM cs9.cannot_finish(p_table_id, 'a staged row does not fit on a page of it',
                format('A row of %s would take %s bytes of %s, with all that can be moved out of it moved out.', v_relation.relation::regclass, v_bytes, v_page),
                'Shorten the row, or let its values be moved out: ALTER TABLE … ALTER COLUMN … SET STORAGE EXTENDED.');
        END IF;
    END LOOP;
END;
$check_row_size$;
COMMENT ON FUNCTION cs9.check_row_size(bigint, integer) IS 'Refuses staged rows that do not fit on a page of the live table';
