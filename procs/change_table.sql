-- Purpose: the last statement of a migration that changes a table: from now on runs write to it as it is now. It keeps
--          its number, and with it what finished runs recorded.
-- Contract: p_was_schema and p_was_table name it as it was registered; all others are as for cs9.register_table.
-- Errors:  S9010 it was not registered; S9021 its search_path cannot be used.
CREATE FUNCTION cs9.change_table(
    p_was_schema        name,
    p_was_table         name,
    p_schema            name,
    p_table             name,
    p_keys              name[],
    p_publish_mode      text,
    p_staging           name,
    p_delete_function   name,
    p_move_function     name,
    p_apply_function    name,
    p_publish_procedure name,
    p_definition_hash   text,
    p_runner_role       name DEFAULT NULL,
    p_publisher_role    name DEFAULT NULL,
    p_search_path       name[] DEFAULT '{}'
)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $change_table$
#variable_conflict error
BEGIN
    UPDATE cs9.table_definition AS d
    SET schema_name = p_schema, table_name = p_table, keys = p_keys, publish_mode = p_publish_mode, staging_name = p_staging,
        delete_function = p_delete_function, move_function = p_move_function, apply_function = p_apply_function,
        publish_procedure = p_publish_procedure, definition_hash = p_definition_hash,
        runner_role = p_runner_role, publisher_role = p_publisher_role, search_path = p_search_path
    WHERE d.schema_name = p_was_schema AND d.table_name = p_was_table;
    IF NOT FOUND THEN
        RAISE EXCEPTION '%.% is not registered', quote_ident(p_was_schema), quote_ident(p_was_table)
            USING ERRCODE = 'S9010',
                  DETAIL = 'No migration of cs9gen has registered it.',
                  HINT = 'Apply the migrations in order.',
                  SCHEMA = p_was_schema, TABLE = p_was_table;
    END IF;
    PERFORM cs9.assert_path(p_schema, p_table, p_search_path);
END;
$change_table$;
COMMENT ON FUNCTION cs9.change_table(name, name, name, name, name[], text, name, name, name, name, name, text, name, name, name[]) IS 'Last statement of a migration that changes a table: registers what it is now';
