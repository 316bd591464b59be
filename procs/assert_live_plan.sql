-- Purpose: the fence of a write: this session's settings must name a plan that the live attempt is running, and its last
--          taking.
-- Contract: p_run_id is the run that owns the table written to; null accepts the run of the settings.
-- Returns: the number of the plan.
-- Locks:   the rows of cs9.run and cs9.plan, FOR SHARE to the end of the transaction.
-- Errors:  S9007 the settings name no such plan; S9024 another session holds the plan's row; those of cs9.assert_live_attempt and cs9.assert_taking.
CREATE FUNCTION cs9.assert_live_plan(p_run_id bigint)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $assert_live_plan$
#variable_conflict error
DECLARE
    v_run_id  text := cs9.setting('run_id', '');
    v_plan    text := cs9.setting('plan', '');
    v_attempt text := cs9.setting('attempt', '');
    v_row     cs9.plan;
BEGIN
    IF v_run_id !~ '^[0-9]{1,18}$' OR v_plan !~ '^[0-9]{1,9}$' OR v_attempt !~ '^[0-9]{1,9}$'
       OR v_run_id::bigint IS DISTINCT FROM coalesce(p_run_id, v_run_id::bigint)
    THEN
        PERFORM cs9.assert_writable();
        RAISE EXCEPTION 'this session does not say which plan it writes for'
            USING ERRCODE = 'S9007',
                  DETAIL = format('Settings: cs9.run_id = %L, cs9.plan = %L, cs9.attempt = %L, cs9.taking = %L.', v_run_id, v_plan, v_attempt, cs9.setting('taking', ''))
                           || coalesce(' The staged table belongs to run ' || p_run_id || '.', ''),
                  HINT = 'SELECT cs9.begin_plan(run_id, plan, attempt) in the session that writes.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;

    PERFORM cs9.assert_live_attempt(v_run_id::bigint, v_attempt::integer);

    SELECT p.* INTO v_row FROM cs9.plan AS p WHERE p.run_id = v_run_id::bigint AND p.plan = v_plan::integer FOR SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM cs9.await_row('cs9.plan', format('run_id = %s AND plan = %s', v_run_id::bigint, v_plan::integer), 'SHARE', true);
        SELECT p.* INTO v_row FROM cs9.plan AS p WHERE p.run_id = v_run_id::bigint AND p.plan = v_plan::integer FOR SHARE;
    END IF;
    IF v_row.attempt IS DISTINCT FROM v_attempt::integer OR v_row.state <> 'running' THEN
        RAISE EXCEPTION 'plan % of run % is not running', v_plan, v_run_id
            USING ERRCODE = 'S9007',
                  DETAIL = format('Attempt %s has not begun it, or has ended it.', v_attempt),
                  HINT = 'SELECT cs9.begin_plan(run_id, plan, attempt) before the plan writes.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
    PERFORM cs9.assert_taking(v_row, false);
    RETURN v_plan::integer;
END;
$assert_live_plan$;
COMMENT ON FUNCTION cs9.assert_live_plan(bigint) IS 'Fails unless the settings name a plan that the live attempt is running';
