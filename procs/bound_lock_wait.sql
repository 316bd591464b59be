-- Purpose: from here to the end of the transaction no lock is waited for longer than cs9.lock_timeout (2 s unless set);
--          with p_all_tries, than all tries of a publish take together (12 s).
-- A wait for an exclusive lock makes every later reader queue behind it, so it must be short. Where nobody queues, longer
-- is better: a COPY whose client has gone is given the time to notice.
CREATE FUNCTION cs9.bound_lock_wait(p_all_tries boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $bound_lock_wait$
#variable_conflict error
DECLARE
    v_wait double precision;
BEGIN
    PERFORM set_config('lock_timeout', cs9.setting('lock_timeout', '2s'), true);
    IF p_all_tries THEN
        v_wait := 1000 * extract(epoch FROM current_setting('lock_timeout')::interval) * (1 + greatest(cs9.setting('lock_retries', '5')::integer, 0));
        PERFORM set_config('lock_timeout', least(v_wait, 2147483647)::bigint::text, true);
    END IF;
END;
$bound_lock_wait$;
COMMENT ON FUNCTION cs9.bound_lock_wait(boolean) IS 'Bounds lock waits of this transaction by cs9.lock_timeout';
