-- Purpose: the next step of a publish, locked. The step that ends the run comes after all others, those of other
--          tables too. Null columns: there is none.
CREATE FUNCTION cs9.next_step(p_run_id bigint, p_table_id integer)
RETURNS cs9.publish_step
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $next_step$
#variable_conflict error
DECLARE
    v_step cs9.publish_step;
BEGIN
    SELECT s.* INTO v_step
    FROM cs9.publish_step AS s
    WHERE s.run_id = p_run_id
      AND s.state = 'pending'
      AND (p_table_id IS NULL
           OR s.table_id = p_table_id
           OR (s.kind = 'close' AND NOT EXISTS (
                   SELECT
                   FROM cs9.publish_step AS o
                   WHERE o.run_id = p_run_id AND o.state = 'pending' AND o.kind <> 'close')))
    ORDER BY s.step
    LIMIT 1
    FOR UPDATE;
    RETURN v_step;
END;
$next_step$;
COMMENT ON FUNCTION cs9.next_step(bigint, integer) IS 'Next pending step of a publish, locked';
