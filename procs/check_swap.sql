-- Purpose: a swap replaces whole partitions, so that no row of them may have to stay.
-- Errors:  S9013 says what stands against it.
CREATE FUNCTION cs9.check_swap(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_swap$
#variable_conflict error
DECLARE
    v_obstacle text := cs9.swap_obstacle(p_run_id, p_table_id);
BEGIN
    IF v_obstacle IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, format('it cannot be swapped: %s', v_obstacle),
            'A swap puts the staged table in the place of a whole partition.',
            'Delete all its rows in plan 1, mend what stands against it, or publish the run atomic: SELECT cs9.set_publish_mode(task, run_key, ''atomic'').');
    END IF;
END;
$check_swap$;
COMMENT ON FUNCTION cs9.check_swap(bigint, integer) IS 'Refuses a swap that could not be done';
