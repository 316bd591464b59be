-- Purpose: what the NOTICE of a step says: a message for people, and JSON for programs. p_rows are those of this piece.
CREATE FUNCTION cs9.describe_step(p_step cs9.publish_step, p_rows bigint, OUT message text, OUT detail text)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $describe_step$
#variable_conflict error
BEGIN
    message := CASE p_step.kind
        WHEN 'truncate' THEN format('%s: truncated', p_step.relation)
        WHEN 'delete' THEN format('%s: %s rows deleted', p_step.relation, p_step.rows_done)
        WHEN 'move' THEN format('%s: %s of %s rows moved', p_step.relation, p_step.rows_done, p_step.rows_total)
        WHEN 'apply' THEN p_step.note
        WHEN 'analyze' THEN format('%s: %s', p_step.relation, coalesce(p_step.note, 'analyzed'))
        WHEN 'close' THEN format('run %s is published', p_step.run_id)
    END;
    detail := jsonb_build_object(
        'run_id', p_step.run_id, 'step', p_step.step, 'kind', p_step.kind, 'table', p_step.relation,
        'rows', p_rows, 'rows_done', p_step.rows_done, 'rows_total', p_step.rows_total, 'batch', p_step.batches, 'note', p_step.note,
        'done', p_step.state = 'done')::text;
END;
$describe_step$;
COMMENT ON FUNCTION cs9.describe_step(cs9.publish_step, bigint) IS 'Message and JSON detail of the NOTICE for a step';
