-- Purpose: lock the row of a plan, so that no write for it is in flight any more: each holds it FOR SHARE.
-- Returns: the row; nulls when the run has no such plan.
-- Locks:   the row of cs9.plan, FOR NO KEY UPDATE, waited for no longer than cs9.lock_timeout.
-- Errors:  S9001 when a write of the plan does not end in time.
CREATE FUNCTION cs9.lock_plan(p_run_id bigint, p_plan integer)
RETURNS cs9.plan
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $lock_plan$
#variable_conflict error
DECLARE
    v_plan cs9.plan;
BEGIN
    PERFORM cs9.bound_lock_wait();
    SELECT p.* INTO v_plan FROM cs9.plan AS p WHERE p.run_id = p_run_id AND p.plan = p_plan FOR NO KEY UPDATE;
    RETURN v_plan;
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'a write of plan % of run % is still in flight', p_plan, p_run_id
            USING ERRCODE = 'S9001',
                  DETAIL = format('It did not end within %s: %s.', cs9.setting('lock_timeout', '2s'),
                                  cs9.row_holders('cs9.plan', format('run_id = %s AND plan = %s', p_run_id, p_plan))),
                  HINT = 'Call it again when the write has ended; pg_stat_activity shows it, pg_terminate_backend ends it.',
                  SCHEMA = 'cs9', TABLE = 'plan';
END;
$lock_plan$;
COMMENT ON FUNCTION cs9.lock_plan(bigint, integer) IS 'Locks the row of a plan, within a bounded wait';
