-- Purpose: write down what a publish will do, before it does any of it. Table by table: its deletes, its moves,
--          ANALYZE; one last step ends the run.
CREATE FUNCTION cs9.record_steps(p_run_id bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $record_steps$
#variable_conflict error
BEGIN
    INSERT INTO cs9.publish_step (run_id, step, kind, table_id, relation, condition, rows_total)
    SELECT p_run_id,
           row_number() OVER (ORDER BY s.table_id NULLS LAST, s.part, s.delete_id, s.relation COLLATE "C"),
           s.kind, s.table_id, s.relation, s.condition, s.rows_total
    FROM (
        -- a delete of all rows makes the others of the table superfluous
        SELECT d.table_id, 1 AS part, d.delete_id, e.kind, e.relation, e.condition, NULL::bigint AS rows_total
        FROM (
            SELECT DISTINCT ON (x.table_id, x.kind, x.condition) x.*
            FROM cs9.staged_delete AS x
            WHERE x.run_id = p_run_id
              AND (x.kind = 'all' OR cs9.run_deletes(p_run_id, x.table_id) <> 'true')
            ORDER BY x.table_id, x.kind, x.condition, x.delete_id
        ) AS d
        CROSS JOIN LATERAL cs9.delete_steps(d.table_id, d.kind, d.condition) AS e
        UNION ALL
        SELECT t.table_id, 2, NULL, 'move', cs9.table_label(t.table_id), NULL, t.rows_inserted + t.rows_upserted
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id AND t.rows_inserted + t.rows_upserted > 0
        UNION ALL
        SELECT t.table_id, 3, NULL, 'analyze', cs9.table_label(t.table_id), NULL, NULL
        FROM cs9.run_table AS t
        WHERE t.run_id = p_run_id
        UNION ALL
        SELECT NULL, 4, NULL, 'close', NULL, NULL, NULL
    ) AS s;

    UPDATE cs9.run_table AS t
    SET staged_filenode = pg_relation_filenode(to_regclass(cs9.staged_label(t.run_id, t.table_id)))
    WHERE t.run_id = p_run_id;
END;
$record_steps$;
COMMENT ON FUNCTION cs9.record_steps(bigint) IS 'Records the steps of a publish before the first live row is touched';
