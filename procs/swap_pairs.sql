-- Purpose: the partitions of a live table that a run touches, each with the staged table that could take its place.
-- Returns: one row for each leaf partition that holds rows which the run deletes, or for which it staged rows.
--   leaf       the live partition
--   parent     the table that it is a partition of
--   path       what it takes: FOR VALUES … or DEFAULT, from the table down
--   staged     the run's own table for it; null when the run staged nothing for the table
--   survives   whether rows of the partition stay, so that it cannot be swapped
CREATE FUNCTION cs9.swap_pairs(p_run_id bigint, p_table_id integer)
RETURNS TABLE (leaf regclass, parent regclass, path text[], staged regclass, survives boolean)
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
    FOR leaf, parent, path, staged IN
        SELECT l.leaf, l.parent, l.path, coalesce(s.leaf, w.oid::regclass)
        FROM cs9.leaf_bounds(v_live) AS l
        LEFT JOIN cs9.leaf_bounds(v_staged) AS s ON s.path = l.path
        LEFT JOIN pg_catalog.pg_class AS w ON w.oid = v_staged AND w.relkind = 'r'
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
