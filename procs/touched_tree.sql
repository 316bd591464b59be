-- Purpose: the relations through which rows go that a run deletes or staged: the table, those of its partitions that may hold
--          such rows, and what is between them.
CREATE FUNCTION cs9.touched_tree(p_run_id bigint, p_table_id integer)
RETURNS oid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $touched_tree$
#variable_conflict error
DECLARE
    v_live CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
BEGIN
    IF NOT cs9.has_many_partitions(p_table_id) THEN
        RETURN ARRAY (SELECT t.relation::oid FROM cs9.partition_tree(v_live) AS t);
    END IF;
    RETURN v_live::oid || ARRAY (
        SELECT DISTINCT a.relid::oid
        FROM cs9.touched_leaves(p_run_id, p_table_id) AS l
        CROSS JOIN LATERAL pg_partition_ancestors(l) AS a
        WHERE a.relid <> v_live);
END;
$touched_tree$;
COMMENT ON FUNCTION cs9.touched_tree(bigint, integer) IS 'The relations through which rows go that a run deletes or staged';
