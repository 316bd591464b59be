-- Purpose: what a trigger of the user's does cannot be proved, but one that can never work can be seen: a row of each step is tried
--          and taken back, before the first live row is touched.
-- Contract: only for tables with triggers that the step would fire; a partition with triggers of its own is tried for itself.
-- Locks:   those of the steps, given back with each try; the caller bounds the wait.
-- Errors:  S9013 names the triggers and what was raised.
CREATE FUNCTION cs9.try_triggers(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $try_triggers$
#variable_conflict error
DECLARE
    v_part record;
BEGIN
    FOR v_part IN
        WITH touched AS MATERIALIZED (
            -- a partition tree is locked by looking at it, and a table that is left alone may be locked by others
            SELECT t.table_id
            FROM cs9.run_table AS t
            WHERE t.run_id = p_run_id AND NOT cs9.leaves_alone(p_run_id, t.table_id)
        )
        SELECT t.table_id, CASE WHEN r.relation <> v.live THEN pg_get_partition_constraintdef(r.relation) END AS bound
        FROM touched AS t
        CROSS JOIN LATERAL (SELECT to_regclass(cs9.table_label(t.table_id)) AS live) AS v
        CROSS JOIN LATERAL (
            SELECT DISTINCT g.tgrelid AS relation
            FROM pg_catalog.pg_trigger AS g
            WHERE g.tgrelid IN (SELECT w::oid FROM cs9.with_partitions(v.live) AS w)
              AND NOT g.tgisinternal AND g.tgparentid = 0 AND g.tgenabled IN ('O', 'A')
        ) AS r
        WHERE cs9.publish_mode_of(p_run_id, t.table_id) <> 'swap'
        ORDER BY t.table_id, r.relation <> v.live, r.relation
    LOOP
        PERFORM cs9.try_deletes(p_run_id, v_part.table_id, coalesce(v_part.bound, 'true'));
        PERFORM cs9.try_writes(p_run_id, v_part.table_id, coalesce(v_part.bound, 'true'));
    END LOOP;
END;
$try_triggers$;
COMMENT ON FUNCTION cs9.try_triggers(bigint) IS 'Tries a row of each step, to see triggers that can never work';
