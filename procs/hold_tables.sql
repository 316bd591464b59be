-- Purpose: keep migrations away from the tables of a run that begins, to the end of the transaction; one that is changing
--          a table is waited for, and what it made is what the run writes to.
-- Locks:   the registration of each table, FOR KEY SHARE.
-- Errors:  S9010 when a table was removed meanwhile; S9024 when a migration does not end in time.
CREATE FUNCTION cs9.hold_tables(p_table_ids integer[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $hold_tables$
#variable_conflict error
BEGIN
    BEGIN
        PERFORM FROM cs9.table_definition AS d WHERE d.table_id = ANY (p_table_ids) ORDER BY d.table_id FOR KEY SHARE;
    EXCEPTION
        WHEN lock_not_available THEN
            RAISE EXCEPTION 'a migration is changing a table of the run'
                USING ERRCODE = 'S9024',
                      DETAIL = format('It did not end within %s: %s.', cs9.setting('lock_timeout', '2s'),
                                      cs9.row_holders('cs9.table_definition', format('table_id = ANY (%L::integer[])', p_table_ids))),
                      HINT = 'Begin the run when it has ended: SELECT * FROM pg_stat_activity shows it.',
                      SCHEMA = 'cs9', TABLE = 'table_definition';
    END;
    IF (SELECT count(*) FROM cs9.table_definition AS d WHERE d.table_id = ANY (p_table_ids)) <> cardinality(p_table_ids) THEN
        RAISE EXCEPTION 'a table of the run was removed while the run began'
            USING ERRCODE = 'S9010',
                  DETAIL = 'A migration took it out of the register.',
                  HINT = 'Begin the run again with the tables that are there.',
                  SCHEMA = 'cs9', TABLE = 'table_definition';
    END IF;
END;
$hold_tables$;
COMMENT ON FUNCTION cs9.hold_tables(integer[]) IS 'Keeps migrations away from the tables of a run that begins';
