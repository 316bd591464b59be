-- Purpose: the fence within an attempt: only the session that took the plan last, or one to which it gave its settings, may
--          write for it or end it.
-- Contract: p_or_none accepts a session whose settings name another plan, or none.
-- Errors:  S9006 the settings name an earlier taking; S9007 they do not name the plan.
CREATE FUNCTION cs9.assert_taking(p_plan cs9.plan, p_or_none boolean)
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_taking$
#variable_conflict error
DECLARE
    v_taking CONSTANT text := cs9.setting('taking', '');
BEGIN
    IF v_taking = '' OR cs9.setting('run_id', '') <> p_plan.run_id::text OR cs9.setting('plan', '') <> p_plan.plan::text THEN
        IF p_or_none THEN
            RETURN;
        END IF;
        RAISE EXCEPTION 'this session has not begun plan % of run %', p_plan.plan, p_plan.run_id
            USING ERRCODE = 'S9007',
                  DETAIL = format('Settings: cs9.run_id = %L, cs9.plan = %L, cs9.taking = %L.',
                                  cs9.setting('run_id', ''), cs9.setting('plan', ''), v_taking),
                  HINT = 'Call it in the session that called cs9.begin_plan, or begin the plan here when that one has gone.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
    IF v_taking <> p_plan.taking::text THEN
        RAISE EXCEPTION 'plan % of run % was given to another session', p_plan.plan, p_plan.run_id
            USING ERRCODE = 'S9006',
                  DETAIL = format('Process %s began it at %s; what this session had staged for it is removed.', p_plan.pid, p_plan.began_at),
                  HINT = 'Stop this program: what it goes on to write belongs to no plan.',
                  SCHEMA = 'cs9', TABLE = 'plan';
    END IF;
END;
$assert_taking$;
COMMENT ON FUNCTION cs9.assert_taking(cs9.plan, boolean) IS 'Fails unless the session''s settings name the last taking of the plan';
