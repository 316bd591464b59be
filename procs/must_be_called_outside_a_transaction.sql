-- Purpose: its COMMIT fails at once, with SQLSTATE 2D000, where a publish could not commit: inside BEGIN … COMMIT, in a
--          function, or in a multi-statement query. PostgreSQL gives no way to ask; this procedure's name in the
--          error's context says what to do, and nothing has been touched.
CREATE PROCEDURE cs9.must_be_called_outside_a_transaction()
LANGUAGE plpgsql
AS $must_be_called_outside_a_transaction$
#variable_conflict error
BEGIN
    COMMIT;
END;
$must_be_called_outside_a_transaction$;
COMMENT ON PROCEDURE cs9.must_be_called_outside_a_transaction() IS 'Fails with 2D000 inside a transaction, before anything is touched';
