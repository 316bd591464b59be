-- Purpose: the partitions of a live table that a run touches, each with the staged table that could take its place.
-- Returns: one row for each partition that holds rows which the run deletes, or for which it staged rows.
--   leaf       the live partition
--   staged     the run's own table for it; null when the run staged nothing for the table
--   bound      FOR VALUES … or DEFAULT
--   survives   whether rows of the partition stay, so that it cannot be swapped
CREATE FUNCTION cs9.swap_pairs(p_run_id bigint, p_table_id integer)
RETURNS TABLE (leaf regclass, staged regclass, bound text, survives boolean)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $swap_pairs$
#variable_conflict error
DECLARE
    v_live    CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_staged  CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
    v_touched boolean;
BEGIN
    FOR leaf, staged, bound IN
        SELECT l.inhrelid::regclass, coalesce(s.inhrelid, w.oid)::regclass, pg_get_expr(c.relpartbound, c.oid)
        FROM pg_catalog.pg_inherits AS l
        JOIN pg_catalog.pg_class AS c ON c.oid = l.inhrelid
        LEFT JOIN (
            pg_catalog.pg_inherits AS s
            JOIN pg_catalog.pg_class AS sc ON sc.oid = s.inhrelid
        ) ON s.inhparent = v_staged AND pg_get_expr(sc.relpartbound, sc.oid) = pg_get_expr(c.relpartbound, c.oid)
        LEFT JOIN pg_catalog.pg_class AS w ON w.oid = v_staged AND w.relkind = 'r'
        WHERE l.inhparent = v_live
        ORDER BY c.relname COLLATE "C"
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE (%s)), EXISTS (SELECT FROM %1$s WHERE NOT (%2$s))', leaf, v_deletes)
        INTO v_touched, survives;
        IF NOT v_touched AND staged IS NOT NULL THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %s)', staged) INTO v_touched;
        END IF;
        IF v_touched THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END;
$swap_pairs$;
COMMENT ON FUNCTION cs9.swap_pairs(bigint, integer) IS 'The partitions that a run touches, and what it staged for each';
