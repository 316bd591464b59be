-- +goose Up

-- For people. cs9.owner_alive says when an owner is alive. What it looks at is not seen on a standby: there owner_alive is
-- null.
CREATE VIEW cs9.run_status AS
SELECT
    r.run_id,
    t.task,
    r.run_key,
    r.state,
    r.attempt,
    r.plans,
    p.plans_done,
    p.rows_staged,
    s.rows_to_publish,
    s.rows_published,
    r.today,
    date_trunc('second', coalesce(r.ended_at, now()) - r.begun_at) AS age,
    CASE
        WHEN r.state NOT IN ('running', 'ready', 'publishing') THEN false
        WHEN NOT pg_is_in_recovery() THEN cs9.task_owner(r.task_id) IS NOT NULL
    END AS owner_alive,
    r.owner,
    r.error,
    r.begun_at,
    r.attempt_at,
    r.ended_at,
    r.is_current
FROM cs9.run AS r
JOIN cs9.task AS t USING (task_id)
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE state = 'done')::integer AS plans_done,
        coalesce(sum(rows_staged), 0)::bigint AS rows_staged
    FROM cs9.plan
    WHERE plan.run_id = r.run_id
) AS p
CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(rows_total), 0)::bigint AS rows_to_publish,
        coalesce(sum(rows_done), 0)::bigint AS rows_published
    FROM cs9.publish_step
    WHERE publish_step.run_id = r.run_id AND kind IN ('move', 'apply')
) AS s;
COMMENT ON VIEW cs9.run_status IS 'One row a run: state, attempt, plans done, rows staged and published, and whether its owner is alive (null on a standby)';

CREATE VIEW cs9.plan_status AS
SELECT
    p.run_id,
    t.task,
    r.run_key,
    p.plan,
    p.argsets,
    p.state,
    p.attempt,
    p.state = 'done' AND p.attempt < r.attempt AS skipped,
    p.rows_staged,
    p.error,
    p.began_at,
    p.finished_at
FROM cs9.plan AS p
JOIN cs9.run AS r USING (run_id)
JOIN cs9.task AS t USING (task_id);
COMMENT ON VIEW cs9.plan_status IS 'One row a plan; skipped: an earlier attempt had finished it, so the last one did not run it';

CREATE VIEW cs9.publish_progress AS
SELECT
    s.run_id,
    t.task,
    r.run_key,
    s.step,
    s.kind,
    quote_ident(d.schema_name) || '.' || quote_ident(d.table_name) AS table_name,
    s.relation,
    s.state,
    s.rows_total,
    s.rows_done,
    CASE
        WHEN s.state = 'done' THEN 100
        WHEN s.rows_total > 0 THEN round(100.0 * s.rows_done / s.rows_total, 1)
        ELSE 0
    END AS percent,
    s.batches,
    s.note,
    s.began_at,
    s.finished_at
FROM cs9.publish_step AS s
JOIN cs9.run AS r USING (run_id)
JOIN cs9.task AS t USING (task_id)
LEFT JOIN cs9.table_definition AS d USING (table_id);
COMMENT ON VIEW cs9.publish_progress IS 'One row a publish step, in the order in which they are done';

-- +goose Down
DROP VIEW cs9.publish_progress;
DROP VIEW cs9.plan_status;
DROP VIEW cs9.run_status;
