-- Purpose: how a delete is done: one step for the table, or for each of its partitions that may hold such rows; for all of them at once where rows
--          of one may reference rows of another, because no order of the partitions would do.
--          TRUNCATE where all rows go; DELETE where a foreign key of another table points there, because TRUNCATE
--          would refuse even when that table is empty. Never CASCADE.
CREATE FUNCTION cs9.delete_steps(p_table_id integer, p_kind text, p_condition text)
RETURNS TABLE (kind text, relation text, condition text)
LANGUAGE plpgsql
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $delete_steps$
#variable_conflict error
DECLARE
    v_at_once CONSTANT boolean := cs9.references_itself(p_table_id);
    v_tree    oid[];
    v_deletes CONSTANT text := cs9.deleted_rows(p_kind, p_condition);
    v_held    oid[];  -- what foreign keys of other tables reference
    v_part    regclass;
BEGIN
    IF p_kind = 'all' THEN
        v_tree := ARRAY (SELECT r::oid FROM cs9.with_partitions(to_regclass(cs9.table_label(p_table_id))) AS r);
        v_held := ARRAY (
            SELECT f.confrelid
            FROM pg_catalog.pg_constraint AS f
            WHERE f.contype = 'f' AND f.confrelid = ANY (v_tree) AND (NOT v_at_once AND f.conrelid <> f.confrelid OR f.conrelid <> ALL (v_tree)));
    END IF;
    FOR v_part IN
        SELECT to_regclass(cs9.table_label(p_table_id)) WHERE v_at_once
        UNION ALL
        SELECT leaf FROM cs9.leaves_where(p_table_id, v_deletes) AS leaf WHERE NOT v_at_once
    LOOP
        relation := v_part::text;
        IF p_kind = 'all' AND (cardinality(v_held) = 0 OR NOT v_at_once AND v_part::oid <> ALL (v_held)) THEN
            kind := 'truncate';
            condition := NULL;
        ELSE
            kind := 'delete';
            condition := v_deletes;
        END IF;
        RETURN NEXT;
    END LOOP;
END;
$delete_steps$;
COMMENT ON FUNCTION cs9.delete_steps(integer, text, text) IS 'The steps of a delete: TRUNCATE or DELETE, for the table or for each partition';
