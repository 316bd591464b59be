-- Purpose: is the session there that took a plan? A process that began after the plan did is another one.
CREATE FUNCTION cs9.taker_alive(p_plan cs9.plan)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog, pg_temp
AS $taker_alive$
#variable_conflict error
BEGIN
    PERFORM pg_stat_clear_snapshot();
    RETURN p_plan.began_at >= pg_postmaster_start_time()
       AND EXISTS (
           SELECT
           FROM pg_stat_get_activity(p_plan.pid) AS a
           WHERE a.backend_start IS NULL OR a.backend_start <= p_plan.began_at
       );
END;
$taker_alive$;
COMMENT ON FUNCTION cs9.taker_alive(cs9.plan) IS 'Whether the session is there that took a plan';
