-- Purpose: the id of a table that cs9gen generated, from its name as SQL writes it: schema.table, quoted where needed.
-- Errors:  S9010 when there is no such definition, or no such table any more.
CREATE FUNCTION cs9.find_table(p_table text)
RETURNS integer
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $find_table$
#variable_conflict error
DECLARE
    v_table_id integer;
BEGIN
    SELECT d.table_id INTO v_table_id
    FROM cs9.table_definition AS d
    JOIN pg_catalog.pg_namespace AS n ON n.nspname = d.schema_name
    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = d.table_name
    WHERE c.oid = to_regclass(p_table);

    IF v_table_id IS NULL THEN
        RAISE EXCEPTION 'table % is not one that cs9gen publishes', coalesce(p_table, '(null)')
            USING ERRCODE = 'S9010',
                  DETAIL = CASE
                      WHEN to_regclass(p_table) IS NULL THEN 'There is no table of that name in this database.'
                      ELSE 'The table is there, but no migration of cs9gen has registered it.'
                  END,
                  HINT = 'Write it as schema.table; define it in a definition file, then generate and apply the migrations.',
                  SCHEMA = 'cs9', TABLE = 'table_definition';
    END IF;
    RETURN v_table_id;
EXCEPTION
    -- to_regclass refuses what is no name at all
    WHEN syntax_error_or_access_rule_violation THEN
        RAISE EXCEPTION '% is not the name of a table', quote_nullable(p_table)
            USING ERRCODE = 'S9010',
                  DETAIL = SQLERRM,
                  HINT = 'Write it as schema.table, with double quotes where SQL needs them.',
                  SCHEMA = 'cs9', TABLE = 'table_definition';
END;
$find_table$;
COMMENT ON FUNCTION cs9.find_table(text) IS 'Id of a registered table, by its name as SQL writes it';
