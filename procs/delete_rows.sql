-- Purpose: delete live rows at once, outside any run, in the same way as a publish would.
-- Returns: how many rows went; TRUNCATE does not count, so null when it was used.
-- Locks:   as a publish would; none is waited for longer than cs9.lock_timeout.
-- Errors:  S9010 unknown table; S9015 no condition; S9016 unknown kind; S9024 a lock was not had; S9023 nothing can be written here.
CREATE FUNCTION cs9.delete_rows(p_table text, p_kind text, p_condition text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $delete_rows$
#variable_conflict error
DECLARE
    v_table_id integer;
    v_fixed    text;
    v_step     record;
    v_rows     bigint := 0::bigint;
BEGIN
    PERFORM cs9.bound_lock_wait();
    PERFORM cs9.assert_writable();
    v_table_id := cs9.find_table(p_table);
    IF p_kind IS NULL OR p_kind NOT IN ('all', 'where', 'keep') THEN
        RAISE EXCEPTION 'unknown kind of delete: %', coalesce(p_kind, '(null)')
            USING ERRCODE = 'S9016',
                  DETAIL = 'The kinds are all, where and keep.',
                  HINT = 'Pass one of them.',
                  SCHEMA = 'cs9', TABLE = 'staged_delete';
    END IF;
    IF p_kind <> 'all' THEN
        v_fixed := cs9.fix_condition(v_table_id, p_condition);
    END IF;
    FOR v_step IN SELECT s.* FROM cs9.delete_steps(v_table_id, p_kind, v_fixed) AS s LOOP
        v_rows := v_rows + cs9.run_delete_step(v_table_id, v_step.relation, v_step.condition);
    END LOOP;
    RETURN v_rows;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'another session holds a lock on %, from which rows are to be deleted', p_table
            USING ERRCODE = 'S9024',
                  DETAIL = format('After %s: %s.', cs9.setting('lock_timeout', '2s'), concat_ws('; ', cs9.lock_holders(to_regclass(p_table)), cs9.strongest_locks())),
                  HINT = 'Nothing was deleted. Call it again when the lock is gone.',
                  SCHEMA = coalesce((parse_ident(p_table))[1], ''), TABLE = coalesce((parse_ident(p_table))[2], '');
END;
$delete_rows$;
COMMENT ON FUNCTION cs9.delete_rows(text, text, text) IS 'Deletes live rows at once, outside any run';
