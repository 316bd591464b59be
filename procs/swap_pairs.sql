-- Purpose: the partitions of a live table that a run touches, each with the staged table that could take its place.
-- Returns: one row for each leaf partition that holds rows which the run deletes, or for which it staged rows.
--   leaf       the live partition
--   parent     the table that it is a partition of
--   path       what it takes: FOR VALUES … or DEFAULT, from the table down
--   staged     the run's own table for it; null when it staged nothing for the partition, or its rows are not split yet
--   takes      whether staged rows go there
--   survives   whether rows of the partition stay, so that it cannot be swapped
CREATE FUNCTION cs9.swap_pairs(p_run_id bigint, p_table_id integer)
RETURNS TABLE (leaf regclass, parent regclass, path text[], staged regclass, takes boolean, survives boolean)
LANGUAGE plpgsql
ROWS 8
SET search_path = pg_catalog, pg_temp
AS $swap_pairs$
#variable_conflict error
DECLARE
    v_live    CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_staged  CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_split   CONSTANT regclass := cs9.split_of(p_run_id, p_table_id);
    v_deletes CONSTANT text := cs9.run_deletes(p_run_id, p_table_id);
    v_takes   CONSTANT regclass[] := ARRAY (SELECT l FROM cs9.staged_leaves(p_run_id, p_table_id) AS l);
    v_touched boolean;
BEGIN
    FOR leaf, parent, path, takes, staged IN
        SELECT l.leaf, u.parent, u.path, l.leaf = ANY (v_takes),
               -- rows that all go to one partition need not be split: their table takes its place
               CASE WHEN v_split IS NOT NULL THEN s.leaf WHEN ARRAY[l.leaf] = v_takes THEN v_staged END
        FROM (SELECT d FROM cs9.leaves_where(p_table_id, v_deletes) AS d UNION SELECT t FROM unnest(v_takes) AS t) AS l (leaf)
        JOIN pg_catalog.pg_class AS c ON c.oid = l.leaf
        CROSS JOIN LATERAL cs9.leaf_path(l.leaf, v_live) AS u
        LEFT JOIN cs9.leaf_bounds(v_split) AS s ON s.path = u.path
        ORDER BY c.relname COLLATE "C"
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE (%s)), EXISTS (SELECT FROM %1$s WHERE (%2$s) IS NOT TRUE)', leaf, v_deletes)
        INTO v_touched, survives;
        IF v_touched OR takes THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END;
$swap_pairs$;
COMMENT ON FUNCTION cs9.swap_pairs(bigint, integer) IS 'The partitions that a run touches, and what it staged for each';
