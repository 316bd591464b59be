-- Purpose: do the next piece of a publish: a whole step, or one batch of a move. What is done and the record of it
--          are one transaction, so that each piece is done once, whatever stops the publish.
-- Returns: the step as it is now.
-- Contract: the caller holds the row of the step.
CREATE FUNCTION cs9.run_step(p_step cs9.publish_step, p_batch_rows integer)
RETURNS cs9.publish_step
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $run_step$
#variable_conflict error
DECLARE
    v_watermark tid;
    v_rows      bigint;
    v_note      text;
    v_step      cs9.publish_step;
BEGIN
    CASE p_step.kind
        WHEN 'truncate', 'delete' THEN
            v_rows := cs9.run_delete_step(p_step.table_id, p_step.relation, p_step.condition);
        WHEN 'move' THEN
            SELECT m.watermark, m.rows_moved INTO v_watermark, v_rows FROM cs9.move_batch(p_step, p_batch_rows) AS m;
        WHEN 'apply' THEN
            SELECT a.rows, a.note INTO v_rows, v_note FROM cs9.apply_run(p_step.run_id) AS a;
        WHEN 'analyze' THEN
            v_note := cs9.analyze_table(p_step.table_id, p_step.relation);
        WHEN 'close' THEN
            PERFORM cs9.assert_all_moved(p_step.run_id, NULL);
            PERFORM cs9.drop_leftovers();
            PERFORM cs9.drop_staged(p_step.run_id);
            UPDATE cs9.run AS r SET state = 'published', ended_at = clock_timestamp(), error = NULL WHERE r.run_id = p_step.run_id;
    END CASE;
    PERFORM cs9.settle_constraints(p_step);

    UPDATE cs9.publish_step AS s
    SET state = CASE WHEN v_watermark IS NULL THEN 'done' ELSE 'pending' END,
        watermark = coalesce(v_watermark, s.watermark),
        rows_done = s.rows_done + coalesce(v_rows, 0),
        -- what a range of several movers holds is known when it ends
        rows_total = CASE WHEN s.kind <> 'move' THEN s.rows_total
                          WHEN v_watermark IS NULL THEN s.rows_done + v_rows
                          ELSE greatest(s.rows_total, s.rows_done + v_rows) END,
        batches = s.batches + 1,
        note = v_note,
        began_at = coalesce(s.began_at, now()),
        finished_at = CASE WHEN v_watermark IS NULL THEN clock_timestamp() END
    WHERE s.run_id = p_step.run_id AND s.step = p_step.step
    RETURNING s.* INTO STRICT v_step;
    IF v_step.kind = 'move' AND v_step.state = 'done' THEN
        PERFORM cs9.assert_all_moved(v_step.run_id, v_step.table_id);
    END IF;
    RETURN v_step;
END;
$run_step$;
COMMENT ON FUNCTION cs9.run_step(cs9.publish_step, integer) IS 'Does a step of a publish, or one batch of a move, and records it';
