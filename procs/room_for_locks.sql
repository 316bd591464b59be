-- Purpose: how many locks one transaction may take: half of those for which the server has room, all sessions together.
CREATE FUNCTION cs9.room_for_locks()
RETURNS integer
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $room_for_locks$
#variable_conflict error
BEGIN
    RETURN current_setting('max_locks_per_transaction')::integer
           * (current_setting('max_connections')::integer + current_setting('max_prepared_transactions')::integer) / 2;
END;
$room_for_locks$;
COMMENT ON FUNCTION cs9.room_for_locks() IS 'How many locks one transaction may take';
