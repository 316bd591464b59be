-- Purpose: how a run publishes a table, as things are now.
-- Returns: batched, atomic or swap. swap_or_atomic is swap while nothing stands against it.
CREATE FUNCTION cs9.publish_mode_of(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $publish_mode_of$
#variable_conflict error
DECLARE
    v_mode text;
BEGIN
    SELECT t.publish_mode INTO STRICT v_mode
    FROM cs9.run_table AS t
    WHERE t.run_id = p_run_id AND t.table_id = p_table_id;
    IF v_mode = 'swap_or_atomic' THEN
        RETURN CASE WHEN cs9.swap_obstacle(p_run_id, p_table_id) IS NULL THEN 'swap' ELSE 'atomic' END;
    END IF;
    RETURN v_mode;
END;
$publish_mode_of$;
COMMENT ON FUNCTION cs9.publish_mode_of(bigint, integer) IS 'How a run publishes a table: batched, atomic or swap';
