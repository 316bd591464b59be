-- Purpose: the search_path of the table's definition must still be one in which nobody else may create anything.
-- Errors:  S9013.
CREATE FUNCTION cs9.check_path(p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_path$
#variable_conflict error
DECLARE
    v_obstacle CONSTANT text := (SELECT cs9.path_obstacle(d.search_path) FROM cs9.table_definition AS d WHERE d.table_id = p_table_id);
BEGIN
    IF v_obstacle IS NOT NULL THEN
        PERFORM cs9.cannot_finish(p_table_id, format('its search_path cannot be used: %s', v_obstacle),
            'What stands in those schemas runs with the rights of the publish.',
            'REVOKE CREATE ON SCHEMA … FROM PUBLIC or from that role, or take the schema out of search_path: in the definition.');
    END IF;
END;
$check_path$;
COMMENT ON FUNCTION cs9.check_path(integer) IS 'Refuses a search_path in whose schemas others may create';
