-- Purpose: publish all atomic and swap tables of a run, in the transaction that the caller commits: readers see all of
--          it at once.
-- Contract: other writers are kept out first, and everything that could stand against the publish is looked for once
--          more behind their locks.
-- Returns: rows, how many staged rows became live; note, what was done to each table.
-- Locks:   EXCLUSIVE on the live tables, which plain readers do not notice; for a swap ACCESS EXCLUSIVE at the very end.
--          In the order of table_id; no wait is longer than cs9.lock_timeout.
-- Errors:  S9013, S9014, S9018: nothing of these tables was touched.
CREATE FUNCTION cs9.apply_run(p_run_id bigint, OUT rows bigint, OUT note text)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $apply_run$
#variable_conflict error
DECLARE
    v_table record;
    v_notes text[] := ARRAY[]::text[];
BEGIN
    PERFORM cs9.assert_staged(p_run_id);
    PERFORM cs9.lock_apply_tables(p_run_id);
    FOR v_table IN SELECT a.table_id FROM cs9.apply_tables(p_run_id) AS a LOOP
        PERFORM cs9.check_table(p_run_id, v_table.table_id);
    END LOOP;

    FOR v_table IN SELECT a.table_id FROM cs9.apply_tables(p_run_id) AS a WHERE a.mode = 'atomic' LOOP
        v_notes := array_append(v_notes, cs9.apply_atomic(p_run_id, v_table.table_id));
    END LOOP;
    v_notes := v_notes || cs9.apply_swaps(p_run_id);
    note := array_to_string(v_notes, '; ');

    SELECT sum(t.rows_inserted + t.rows_upserted) INTO apply_run.rows
    FROM cs9.run_table AS t
    JOIN cs9.apply_tables(p_run_id) AS a ON a.table_id = t.table_id
    WHERE t.run_id = p_run_id;
END;
$apply_run$;
COMMENT ON FUNCTION cs9.apply_run(bigint) IS 'Publishes the atomic and swap tables of a run in one transaction';
