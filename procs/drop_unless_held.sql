-- Purpose: drop a table in cs9_staging that nobody needs, unless another session is at it: nothing waits for that, and
--          nothing fails for it, whatever stands against the drop (an event trigger, a cursor of this session).
-- Returns: whether it is gone.
-- Locks:   ACCESS EXCLUSIVE, waited for no longer than cs9.lock_timeout; without p_wait, not at all.
CREATE FUNCTION cs9.drop_unless_held(p_name name, p_wait boolean)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1ms'
AS $drop_unless_held$
#variable_conflict error
BEGIN
    IF p_wait THEN
        PERFORM cs9.bound_lock_wait();
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS cs9_staging.%I', p_name);
    RETURN true;
EXCEPTION
    WHEN assert_failure OR OTHERS THEN
        RAISE NOTICE 'cs9_staging.% is left for a later call to drop', quote_ident(p_name)
            USING DETAIL = concat_ws('; ', SQLERRM, cs9.lock_holders(to_regclass(format('cs9_staging.%I', p_name))));
        RETURN false;
END;
$drop_unless_held$;
COMMENT ON FUNCTION cs9.drop_unless_held(name, boolean) IS 'Drops a table in cs9_staging, unless another session is at it';
