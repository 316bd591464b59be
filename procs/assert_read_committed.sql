-- Purpose: what begins, proves or ends something must see what others have committed, also what it was kept waiting for.
-- An older snapshot would count rows that are there as missing.
-- Errors:  S9016 in a transaction that is REPEATABLE READ or SERIALIZABLE.
CREATE FUNCTION cs9.assert_read_committed()
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_read_committed$
#variable_conflict error
DECLARE
    v_level CONSTANT text := current_setting('transaction_isolation');
BEGIN
    IF v_level NOT IN ('read committed', 'read uncommitted') THEN
        RAISE EXCEPTION 'a run needs a READ COMMITTED transaction, and this one is %', upper(v_level)
            USING ERRCODE = 'S9016',
                  DETAIL = 'It would not see what other sessions have staged and committed since it began. Nothing was done.',
                  HINT = CASE
                      WHEN current_setting('default_transaction_isolation') = v_level
                      THEN 'It is the default of this session: SET default_transaction_isolation = ''read committed'', or set it so for the role or the database.'
                      ELSE 'BEGIN ISOLATION LEVEL READ COMMITTED.'
                  END,
                  SCHEMA = 'cs9', TABLE = 'run';
    END IF;
END;
$assert_read_committed$;
COMMENT ON FUNCTION cs9.assert_read_committed() IS 'Refuses a transaction that sees an old snapshot';
