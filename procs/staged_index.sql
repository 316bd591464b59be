-- Purpose: the name that the successor of an index of a live partition has until the switch.
CREATE FUNCTION cs9.staged_index(p_run_id bigint, p_table_id integer, p_index oid)
RETURNS name
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $staged_index$
#variable_conflict error
BEGIN
    RETURN format('r%s_t%s_i%s', p_run_id, p_table_id, p_index)::name;
END;
$staged_index$;
COMMENT ON FUNCTION cs9.staged_index(bigint, integer, oid) IS 'Name of the index that will take the place of one of a live partition';
