-- Purpose: lock a row of a control table that another session holds, within a bounded wait; who is in the way is named.
-- Contract: p_row is a condition of SQL on the key of p_relation, p_mode is UPDATE, NO KEY UPDATE or SHARE. Called where
--           the row was not to be had at once (SKIP LOCKED): an exception is caught here, which costs a subtransaction.
-- Locks:   the row, waited for as cs9.bound_lock_wait(p_all_tries) says.
-- Errors:  S9024.
CREATE FUNCTION cs9.await_row(p_relation regclass, p_row text, p_mode text, p_all_tries boolean)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $await_row$
#variable_conflict error
DECLARE
    v_wait text;
BEGIN
    PERFORM cs9.bound_lock_wait(p_all_tries);
    v_wait := current_setting('lock_timeout');
    EXECUTE format('SELECT FROM %s WHERE %s FOR %s', p_relation, p_row, p_mode);
EXCEPTION
    WHEN lock_not_available THEN
        RAISE EXCEPTION 'another session holds a row that this call needs: % of %', p_row, p_relation
            USING ERRCODE = 'S9024',
                  DETAIL = format('After %s: %s.', v_wait, cs9.row_holders(p_relation, p_row)),
                  HINT = 'Call it again when its transaction has ended; pg_terminate_backend ends a session that hangs.',
                  SCHEMA = 'cs9', TABLE = (SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.oid = p_relation);
END;
$await_row$;
COMMENT ON FUNCTION cs9.await_row(regclass, text, text, boolean) IS 'Locks a row of a control table, within a bounded wait';
