-- Purpose: what is deferred to the end of the transaction is done at the end of the step: the COMMIT behind it would fail where
--          nobody gives the task back. Triggers run under the search_path of their table's definition.
-- Contract: of a step that publishes several tables those with a search_path of their own come first, by name.
CREATE FUNCTION cs9.settle_constraints(p_step cs9.publish_step)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $settle_constraints$
#variable_conflict error
DECLARE
    v_trigger record;
BEGIN
    FOR v_trigger IN
        SELECT DISTINCT cs9.table_path(t.table_id) AS path, format('%I.%I', n.nspname, c.conname) AS label
        FROM cs9.run_table AS t
        JOIN cs9.table_definition AS d ON d.table_id = t.table_id AND cardinality(d.search_path) > 0
        JOIN pg_catalog.pg_constraint AS c
            ON c.contype = 't' AND c.condeferrable
           AND c.conrelid IN (SELECT r::oid FROM cs9.with_partitions(to_regclass(cs9.table_label(t.table_id))) AS r)
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.connamespace
        WHERE t.run_id = p_step.run_id AND (p_step.table_id IS NULL OR t.table_id = p_step.table_id) AND p_step.kind <> 'close'
        ORDER BY label
    LOOP
        PERFORM set_config('search_path', v_trigger.path, true);
        EXECUTE format('SET CONSTRAINTS %s IMMEDIATE', v_trigger.label);
    END LOOP;
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    SET CONSTRAINTS ALL IMMEDIATE;
END;
$settle_constraints$;
COMMENT ON FUNCTION cs9.settle_constraints(cs9.publish_step) IS 'Does at the end of a step what is deferred to the end of the transaction';
