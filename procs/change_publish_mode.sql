-- Purpose: publish a table of a run in another mode than its definition says.
-- Contract: the caller holds the run's row. swap_or_atomic is atomic where nothing can be swapped.
-- Errors:  S9016 no such mode, the table has no partition to swap, or rows are staged already in a way that the mode
--          cannot use.
CREATE FUNCTION cs9.change_publish_mode(p_run_id bigint, p_table_id integer, p_mode text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $change_publish_mode$
#variable_conflict error
DECLARE
    v_mode    text := p_mode;
    v_live    CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_staged  CONSTANT regclass := to_regclass(cs9.staged_label(p_run_id, p_table_id));
    v_split   boolean;
    v_problem text;
    v_hint    text;
BEGIN
    v_split := (SELECT c.relkind = 'p' FROM pg_catalog.pg_class AS c WHERE c.oid = v_staged);
    IF p_mode IS NULL OR p_mode NOT IN ('batched', 'atomic', 'swap', 'swap_or_atomic') THEN
        v_problem := format('%s is no publish mode', quote_nullable(p_mode));
        v_hint := 'The modes are batched, atomic, swap and swap_or_atomic.';
    ELSIF p_mode LIKE 'swap%' AND NOT EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS p WHERE p.partrelid = v_live) THEN
        v_problem := format('%s cannot be published by %s: it has no partition to swap', v_live, p_mode);
        v_hint := 'Write publish: swap into its definition, generate and migrate.';
    ELSIF v_split AND p_mode = 'batched' THEN
        v_problem := format('%s cannot be published batched: its rows are staged by partition', v_live);
        v_hint := 'Publish the run atomic, or discard it and begin it again batched.';
    END IF;
    IF v_problem IS NOT NULL AND p_mode = 'swap_or_atomic' THEN
        v_mode := 'atomic';
    ELSIF v_problem IS NOT NULL THEN
        RAISE EXCEPTION USING
            MESSAGE = v_problem,
            ERRCODE = 'S9016',
            DETAIL = format('The mode was asked for run %s.', p_run_id),
            HINT = v_hint,
            SCHEMA = 'cs9', TABLE = 'run_table';
    END IF;
    UPDATE cs9.run_table AS t SET publish_mode = v_mode WHERE t.run_id = p_run_id AND t.table_id = p_table_id;
END;
$change_publish_mode$;
COMMENT ON FUNCTION cs9.change_publish_mode(bigint, integer, text) IS 'Publishes a table of a run in another mode than its definition says';
