-- Purpose: a partition may refuse NULL where its table takes it.
-- Contract: p_tree is cs9.touched_tree: what does not lie in it gets none of the rows.
-- Errors:  S9013 names the partition and the column.
CREATE FUNCTION cs9.check_not_null(p_run_id bigint, p_table_id integer, p_tree oid[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_not_null$
#variable_conflict error
DECLARE
    v_staged CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_live   CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_column record;
    v_found  boolean;
BEGIN
    IF v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_column IN
        SELECT a.attname, a.attrelid::regclass AS relation, coalesce(pg_get_partition_constraintdef(a.attrelid), 'true') AS bound
        FROM unnest(p_tree) AS t (relation)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.relation AND a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_catalog.pg_attribute AS p ON p.attrelid = v_live AND p.attname = a.attname AND NOT p.attnotnull AND NOT p.attisdropped
        ORDER BY a.attrelid::regclass::text COLLATE "C", a.attnum
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %I IS NOT DISTINCT FROM NULL AND (%s))', v_staged, v_column.attname, v_column.bound)
        INTO STRICT v_found;
        IF v_found THEN
            PERFORM cs9.cannot_finish(p_table_id, format('a staged row has no %I, which its partition %s demands', v_column.attname, v_column.relation),
                'The column takes NULL in the table, and not in that partition.', 'Correct the row, or drop the partition''s NOT NULL.');
        END IF;
    END LOOP;
END;
$check_not_null$;
COMMENT ON FUNCTION cs9.check_not_null(bigint, integer, oid[]) IS 'Refuses staged rows without a value that a partition of its own demands';
