-- Purpose: the next step of a publish, locked. The step that ends the run comes after all that change a live table, those
--          of other tables too; the one that publishes all tables that are not batched belongs to each of them. What
--          comes behind the end of the run belongs to nobody in particular.
-- Returns: the step; with the state 'taken' when another session is or was at work on it. Null columns: there is none.
-- Contract: moves of one table are disjoint ranges, and each session takes one that no other has. Where none is left,
--           p_wait waits for the first, as long as lock_timeout allows.
CREATE FUNCTION cs9.next_step(p_run_id bigint, p_table_id integer, p_wait boolean)
RETURNS cs9.publish_step
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $next_step$
#variable_conflict error
DECLARE
    v_first cs9.publish_step;
    v_step  cs9.publish_step;
BEGIN
    SELECT s.* INTO v_first
    FROM cs9.publish_step AS s
    WHERE s.run_id = p_run_id
      AND s.state = 'pending'
      AND (p_table_id IS NULL
           OR (s.table_id = p_table_id AND s.kind <> 'analyze')
           OR (s.kind = 'apply' AND EXISTS (
                   SELECT
                   FROM cs9.run_table AS t
                   WHERE t.run_id = p_run_id AND t.table_id = p_table_id AND t.publish_mode <> 'batched'))
           OR (s.kind IN ('close', 'analyze') AND NOT EXISTS (
                   SELECT
                   FROM cs9.publish_step AS o
                   WHERE o.run_id = p_run_id AND o.state = 'pending' AND o.kind NOT IN ('close', 'analyze'))))
    ORDER BY s.step
    LIMIT 1;

    SELECT s.* INTO v_step
    FROM cs9.publish_step AS s
    WHERE s.run_id = p_run_id
      AND s.state = 'pending'
      AND (s.step = v_first.step OR (v_first.kind = 'move' AND s.kind = 'move' AND s.table_id = v_first.table_id))
    ORDER BY s.step
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF p_wait AND v_step.step IS NULL THEN
        SELECT s.* INTO v_step
        FROM cs9.publish_step AS s
        WHERE s.run_id = p_run_id AND s.step = v_first.step AND s.state = 'pending'
        FOR UPDATE;
    END IF;
    IF v_step.step IS NULL AND v_first.step IS NOT NULL THEN
        v_step := v_first;
        v_step.state := 'taken';
    END IF;
    RETURN v_step;
END;
$next_step$;
COMMENT ON FUNCTION cs9.next_step(bigint, integer, boolean) IS 'Next pending step of a publish, locked';
