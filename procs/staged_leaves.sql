-- Purpose: the leaf partitions of a live table to which its staged rows go.
-- How:     rows that are split already say it. For those in one heap PostgreSQL's planner rules out all partitions but those that
--          may take one of the values; where it leaves several, each is asked for itself whether a staged row belongs there.
CREATE FUNCTION cs9.staged_leaves(p_run_id bigint, p_table_id integer)
RETURNS SETOF regclass
LANGUAGE plpgsql
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $staged_leaves$
#variable_conflict error
DECLARE
    v_staged CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_split  CONSTANT regclass := cs9.split_of(p_run_id, p_table_id);
    v_part   record;
    v_takes  boolean;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_part IN
        SELECT l.leaf, b.leaf AS relation, 'true' AS bound
        FROM cs9.leaf_bounds(v_split) AS b
        JOIN cs9.leaf_bounds(to_regclass(cs9.table_label(p_table_id))) AS l ON l.path = b.path
        UNION ALL
        SELECT w, v_staged, coalesce(pg_get_partition_constraintdef(w::oid), 'true')
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL cs9.leaves_where(p_table_id, coalesce(t.staged_values, CASE WHEN cs9.has_many_partitions(p_table_id) THEN cs9.staged_values(p_run_id, p_table_id) ELSE 'true' END)) AS w
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND v_split IS NULL
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %s)', v_part.relation, v_part.bound) INTO v_takes;
        IF v_takes THEN
            RETURN NEXT v_part.leaf;
        END IF;
    END LOOP;
END;
$staged_leaves$;
COMMENT ON FUNCTION cs9.staged_leaves(bigint, integer) IS 'The leaf partitions of a live table to which its staged rows go';
