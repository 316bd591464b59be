-- Purpose: trigger of the staging templates: no row gets into them, they are copied only. What brings no row is harmless: a
--          dump of data restores a table without rows by a COPY of none.
-- Errors:  S9007.
CREATE FUNCTION cs9.guard_template()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $guard_template$
#variable_conflict error
BEGIN
    RAISE EXCEPTION '%.% is a template and stays empty', quote_ident(TG_TABLE_SCHEMA), quote_ident(TG_TABLE_NAME)
        USING ERRCODE = 'S9007',
              DETAIL = 'Each run writes to a copy of its own.',
              HINT = 'SELECT cs9.staging_table(run_id, table) gives the name of the run''s own table.',
              SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END;
$guard_template$;
COMMENT ON FUNCTION cs9.guard_template() IS 'Trigger: refuses every row that is written to a staging template';
