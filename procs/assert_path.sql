-- Purpose: a migration registers a table with a search_path: others may create nothing in its schemas.
-- Errors:  S9021.
CREATE FUNCTION cs9.assert_path(p_schema name, p_table name, p_path name[])
RETURNS void
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $assert_path$
#variable_conflict error
DECLARE
    v_obstacle CONSTANT text := cs9.path_obstacle(p_path);
BEGIN
    IF v_obstacle IS NOT NULL THEN
        RAISE EXCEPTION 'the search_path of %.% cannot be used: %', quote_ident(p_schema), quote_ident(p_table), v_obstacle
            USING ERRCODE = 'S9021',
                  DETAIL = 'What stands in those schemas runs with the rights of the publish. Nothing was changed.',
                  HINT = 'REVOKE CREATE ON SCHEMA … FROM PUBLIC or from that role, or take the schema out of search_path: in the definition.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
END;
$assert_path$;
COMMENT ON FUNCTION cs9.assert_path(name, name, name[]) IS 'Refuses to register a search_path in whose schemas others may create';
