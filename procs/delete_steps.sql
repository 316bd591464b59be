-- Purpose: how a delete is done: one step for the table, or for each of its partitions.
--          TRUNCATE where all rows go; DELETE where a foreign key of another table points here, because TRUNCATE
--          would refuse even when that table is empty. Never CASCADE.
CREATE FUNCTION cs9.delete_steps(p_table_id integer, p_kind text, p_condition text)
RETURNS TABLE (kind text, relation text, condition text)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $delete_steps$
#variable_conflict error
DECLARE
    v_live     regclass := to_regclass(cs9.table_label(p_table_id));
    v_truncate boolean;
BEGIN
    v_truncate := p_kind = 'all' AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_constraint AS f
        WHERE f.contype = 'f' AND f.confrelid = v_live AND f.conrelid <> v_live
    );
    RETURN QUERY
    SELECT CASE WHEN v_truncate THEN 'truncate' ELSE 'delete' END,
           leaf::text,
           CASE WHEN v_truncate THEN NULL ELSE cs9.deleted_rows(p_kind, p_condition) END
    FROM cs9.leaf_relations(p_table_id) AS leaf;
END;
$delete_steps$;
COMMENT ON FUNCTION cs9.delete_steps(integer, text, text) IS 'The steps of a delete: TRUNCATE or DELETE, for the table or for each partition';
