-- Purpose: called by a migration before it makes what an older PostgreSQL does not know.
-- Contract: p_version is as in server_version_num; p_what is the field of the definition that needs it.
-- Errors:  S9021.
CREATE FUNCTION cs9.require_server(p_version integer, p_what text, p_schema name, p_table name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $require_server$
#variable_conflict error
BEGIN
    IF current_setting('server_version_num')::integer < p_version THEN
        RAISE EXCEPTION 'the definition of %.% has %, which needs PostgreSQL % or newer', quote_ident(p_schema), quote_ident(p_table), p_what, p_version / 10000
            USING ERRCODE = 'S9021',
                  DETAIL = format('This server is PostgreSQL %s.', current_setting('server_version')),
                  HINT = 'Migrate a newer server, or take the field out of the definition.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
END;
$require_server$;
COMMENT ON FUNCTION cs9.require_server(integer, text, name, name) IS 'Refuses a server that is too old for a definition';
