-- Purpose: the partitions of a run's own table, one for each of the live table, and the fence around each.
CREATE FUNCTION cs9.split_staged(p_run_id bigint, p_table_id integer, p_staged name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $split_staged$
#variable_conflict error
DECLARE
    v_part     record;
    v_relation regclass;
BEGIN
    FOR v_part IN
        SELECT format('r%s_t%s_p%s', p_run_id, p_table_id, c.oid) AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
        FROM pg_catalog.pg_inherits AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass(cs9.table_label(p_table_id))
          AND (SELECT s.relkind = 'p' FROM pg_catalog.pg_class AS s WHERE s.oid = format('cs9_staging.%I', p_staged)::regclass)
        ORDER BY c.relname COLLATE "C"
    LOOP
        EXECUTE format('CREATE TABLE cs9_staging.%I PARTITION OF cs9_staging.%I %s', v_part.name, p_staged, v_part.bound);
    END LOOP;

    FOR v_relation IN
        SELECT format('cs9_staging.%I', p_staged)::regclass
        UNION ALL
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = format('cs9_staging.%I', p_staged)::regclass
    LOOP
        EXECUTE format(
            'CREATE TRIGGER cs9_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
            'FOR EACH STATEMENT EXECUTE FUNCTION cs9.guard_staged(%L)',
            v_relation, p_run_id);
    END LOOP;
END;
$split_staged$;
COMMENT ON FUNCTION cs9.split_staged(bigint, integer, name) IS 'Partitions of a run''s own table, and the fence around each';
