-- Purpose: PostgreSQL leaves a row out, without a word, when a trigger says so. Such a row is not published: the transaction that
--          would lose it must not commit.
-- Contract: p_events as cs9.user_triggers takes them.
-- Errors:  S9022 names the triggers.
CREATE FUNCTION cs9.assert_none_skipped(p_relation regclass, p_what text, p_events integer, p_found bigint, p_done bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $assert_none_skipped$
#variable_conflict error
BEGIN
    IF p_found IS DISTINCT FROM p_done THEN
        RAISE EXCEPTION '% of % rows of % were not %', p_found - p_done, p_found, p_relation, p_what
            USING ERRCODE = 'S9022',
                  DETAIL = format('%s. The step is undone; the steps before it are committed.',
                                  coalesce('Triggers that may skip a row: ' || cs9.user_triggers(p_relation, p_events, 3), 'Another session changed the rows meanwhile')),
                  HINT = 'Let the trigger return the row, disable it or stage other rows; then call again, or discard the run with cs9.discard_run(task, run_key, true).',
                  SCHEMA = (SELECT n.nspname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = p_relation),
                  TABLE = (SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.oid = p_relation);
    END IF;
END;
$assert_none_skipped$;
COMMENT ON FUNCTION cs9.assert_none_skipped(regclass, text, integer, bigint, bigint) IS 'Refuses a step in which a trigger skipped a row';
