-- Purpose: try a staged row that is new and one whose key is live, among those that p_bound is true for, where triggers would
--          fire, in the statements of the publish.
-- How:     among the first staged rows of each kind. Where a live row that the run deletes stands against an insert, it makes
--          place in the way in which the run deletes; a collision that stays says nothing.
-- Errors:  those of cs9.try_step.
CREATE FUNCTION cs9.try_writes(p_run_id bigint, p_table_id integer, p_bound text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $try_writes$
#variable_conflict error
DECLARE
    c_looked_at CONSTANT integer := 1000;
    v_live      CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_staged    CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_triggers  CONSTANT text := cs9.user_triggers(v_live, 4 | 16);
    v_try       record;
    v_leaf      oid;
    v_row       tid;
    v_picked    text;
BEGIN
    IF v_triggers IS NULL OR v_staged IS NULL THEN
        RETURN;
    END IF;
    FOR v_try IN SELECT w.* FROM cs9.trial_writes(p_run_id, p_table_id) AS w LOOP
        EXECUTE format(
            $find$
            SELECT cs9_s.cs9_leaf, cs9_s.cs9_ctid
            FROM (SELECT *, tableoid AS cs9_leaf, ctid AS cs9_ctid FROM %s WHERE CASE WHEN %s THEN %s END LIMIT %s) AS cs9_s
            LEFT JOIN (SELECT *, (%s) IS TRUE AS cs9_deleted FROM %s) AS cs9_l ON %s
            WHERE %s
            LIMIT 1
            $find$,
            v_staged, p_bound, v_try.staged, c_looked_at, cs9.run_deletes(p_run_id, p_table_id), v_live, cs9.key_match(v_live, 'cs9_s', 'cs9_l'), v_try.wanted)
        INTO v_leaf, v_row;
        IF v_row IS NOT NULL THEN
            v_picked := format('tableoid = %s AND ctid = %L', v_leaf, v_row);
            PERFORM cs9.try_step(p_table_id, v_triggers, replace(v_try.place, 'cs9_row()', v_picked), replace(v_try.statement, 'cs9_row()', v_picked));
        END IF;
    END LOOP;
END;
$try_writes$;
COMMENT ON FUNCTION cs9.try_writes(bigint, integer, text) IS 'Tries a row of the writes of a run to one table';
