-- Purpose: write down what a publish will do, before it does any of it. First the batched tables, one by one: deletes,
--          moves. Then all others at once. The next step ends the run. Behind it comes what is of no weight: ANALYZE
--          of each table that the run changed.
-- Contract: with several movers the rows of each batched table are split into as many ranges, a step each.
CREATE FUNCTION cs9.record_steps(p_run_id bigint, p_movers integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $record_steps$
#variable_conflict error
BEGIN
    INSERT INTO cs9.publish_step (run_id, step, kind, table_id, relation, condition, watermark, upto, rows_total)
    SELECT p_run_id,
           row_number() OVER (ORDER BY s.phase, s.table_id, s.part, s.delete_id, s.relation COLLATE "C", s.watermark),
           s.kind, s.table_id, s.relation, s.condition,
           coalesce(s.watermark, '(0,0)'), coalesce(s.upto, '(4294967294,65535)'), s.rows_total
    FROM (
        SELECT 1 AS phase, t.table_id, 1 AS part, d.delete_id, d.kind, d.relation, d.condition,
               NULL::tid AS watermark, NULL::tid AS upto, NULL::bigint AS rows_total
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL cs9.run_delete_steps(p_run_id, t.table_id) AS d
        WHERE t.run_id = p_run_id AND t.publish_mode = 'batched'
        UNION ALL
        SELECT 1, t.table_id, 2, NULL, 'move', cs9.table_label(t.table_id), NULL, m.watermark, m.upto, m.rows_total
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL cs9.move_ranges(p_run_id, t.table_id, p_movers) AS m
        WHERE t.run_id = p_run_id AND t.publish_mode = 'batched' AND t.rows_inserted + t.rows_upserted > 0
        UNION ALL
        SELECT 4, t.table_id, NULL, NULL, 'analyze', a.relation, NULL, NULL, NULL, NULL
        FROM cs9.run_table AS t
        CROSS JOIN LATERAL cs9.changed_relations(p_run_id, t.table_id) AS a
        WHERE t.run_id = p_run_id
          AND (t.rows_inserted + t.rows_upserted > 0
               OR EXISTS (SELECT FROM cs9.staged_delete AS d WHERE d.run_id = t.run_id AND d.table_id = t.table_id))
        UNION ALL
        SELECT 2, NULL, NULL, NULL, 'apply', NULL, NULL, NULL, NULL, sum(t.rows_inserted + t.rows_upserted)
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.publish_mode <> 'batched'
        HAVING count(*) > 0
        UNION ALL
        SELECT 3, NULL, NULL, NULL, 'close', NULL, NULL, NULL, NULL, NULL
    ) AS s;

    UPDATE cs9.run_table AS t
    SET staged_filenode = pg_relation_filenode(to_regclass(cs9.staged_label(t.run_id, t.table_id)))
    WHERE t.run_id = p_run_id;
END;
$record_steps$;
COMMENT ON FUNCTION cs9.record_steps(bigint, integer) IS 'Records the steps of a publish before the first live row is touched';
