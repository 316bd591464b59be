-- Purpose: rows of a partition that is a foreign table are in another database, about which nothing can be proved.
-- Errors:  S9013 when the run deletes rows of such a partition, or staged rows that go there.
CREATE FUNCTION cs9.check_foreign_tables(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_foreign_tables$
#variable_conflict error
DECLARE
    v_staged CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_leaf   record;
    v_found  boolean;
BEGIN
    FOR v_leaf IN
        SELECT c.oid::regclass AS relation, coalesce(pg_get_partition_constraintdef(c.oid), 'true') AS bound
        FROM cs9.touched_leaves(p_run_id, p_table_id) AS l
        JOIN pg_catalog.pg_class AS c ON c.oid = l
        WHERE c.relkind = 'f'
    LOOP
        v_found := cs9.run_deletes(p_run_id, p_table_id) <> 'false';
        IF NOT v_found AND v_staged IS NOT NULL THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE (%s))', v_staged, v_leaf.bound) INTO STRICT v_found;
        END IF;
        IF v_found THEN
            PERFORM cs9.cannot_finish(p_table_id, format('its partition %s is a foreign table', v_leaf.relation),
                'What another database says to a row cannot be proved beforehand.',
                'Detach the partition, or leave its rows alone: delete nothing, and stage no row that goes there.');
        END IF;
    END LOOP;
END;
$check_foreign_tables$;
COMMENT ON FUNCTION cs9.check_foreign_tables(bigint, integer) IS 'Refuses changes of a partition that is a foreign table';
