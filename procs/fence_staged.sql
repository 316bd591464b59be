-- Purpose: the fence around a run's own table, and around each of its partitions.
-- How:     a publication of all tables has the staged ones too, and PostgreSQL deletes from none that cannot say which row goes:
--          they have no key yet, so that the whole row says it.
CREATE FUNCTION cs9.fence_staged(p_run_id bigint, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $fence_staged$
#variable_conflict error
DECLARE
    v_relation regclass;
BEGIN
    FOR v_relation IN SELECT r FROM cs9.with_partitions(p_staged) AS r LOOP
        EXECUTE format(
            'CREATE TRIGGER cs9_guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s '
            'FOR EACH STATEMENT EXECUTE FUNCTION cs9.guard_staged(%L)',
            v_relation, p_run_id);
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', v_relation);
        -- whatever session_replication_role is
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER cs9_guard', v_relation);
    END LOOP;
END;
$fence_staged$;
COMMENT ON FUNCTION cs9.fence_staged(bigint, regclass) IS 'The fence around a run''s own table and each of its partitions';
