-- Purpose: called by the migration of each table: from now on runs may write to it.
-- Errors:  S9021 its search_path cannot be used.
CREATE FUNCTION cs9.register_table(
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
    p_adopted           boolean DEFAULT false,
    p_search_path       name[] DEFAULT '{}'
)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $register_table$
#variable_conflict error
BEGIN
    INSERT INTO cs9.table_definition (schema_name, table_name, keys, publish_mode, staging_name,
                                      delete_function, move_function, apply_function, publish_procedure, definition_hash,
                                      runner_role, publisher_role, adopted, search_path)
    VALUES (p_schema, p_table, p_keys, p_publish_mode, p_staging,
            p_delete_function, p_move_function, p_apply_function, p_publish_procedure, p_definition_hash,
            p_runner_role, p_publisher_role, p_adopted, p_search_path);
    PERFORM cs9.assert_path(p_schema, p_table, p_search_path);
    PERFORM cs9.warn_of_publications();
END;
$register_table$;
COMMENT ON FUNCTION cs9.register_table(name, name, name[], text, name, name, name, name, name, text, name, name, boolean, name[]) IS 'Registers a generated table, so that runs may write to it';
