-- Purpose: the leaf partitions of a table, or the table itself, in which a condition can be true.
-- How:     PostgreSQL's planner says which partitions it cannot rule out. It locks and opens no others; where it would need more
--          locks than the server has room for, none is ruled out.
-- Returns: all that hold such rows, and maybe more.
CREATE FUNCTION cs9.leaves_where(p_table_id integer, p_condition text)
RETURNS SETOF regclass
LANGUAGE plpgsql
ROWS 4
SET search_path = pg_catalog, pg_temp
SET enable_partition_pruning = on
AS $leaves_where$
#variable_conflict error
DECLARE
    v_live   CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_plan   jsonb;
    v_leaves oid[];
BEGIN
    IF p_condition = 'false' THEN
        RETURN;
    ELSIF p_condition <> 'true' AND EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS p WHERE p.partrelid = v_live) THEN
        BEGIN
            EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT FROM %s WHERE %s', v_live, p_condition) INTO v_plan;
            v_leaves := ARRAY (
                SELECT DISTINCT to_regclass(format('%I.%I', n.node ->> 'Schema', n.node ->> 'Relation Name'))::oid
                FROM jsonb_path_query(v_plan, 'strict $.**?(exists(@."Relation Name"))') AS n (node));
        EXCEPTION
            WHEN out_of_memory THEN
                v_leaves := NULL;
        END;
    END IF;
    IF v_leaves IS NULL THEN
        RETURN QUERY SELECT l FROM cs9.leaf_relations(p_table_id) AS l;
    ELSE
        RETURN QUERY SELECT c.oid::regclass FROM pg_catalog.pg_class AS c WHERE c.oid = ANY (v_leaves) ORDER BY c.relname COLLATE "C";
    END IF;
END;
$leaves_where$;
COMMENT ON FUNCTION cs9.leaves_where(integer, text) IS 'The leaf partitions of a table in which a condition can be true';
