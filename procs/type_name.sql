-- Purpose: the one place that prints a type. Without a length, char and bit mean length 1 where SQL names them, so that a cast
--          to them would cut a value: such a type is printed by its name in the catalogue, which has no length.
-- Contract: p_typmod is that of the column or domain; -1 or null for none.
CREATE FUNCTION cs9.type_name(p_type oid, p_typmod integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $type_name$
#variable_conflict error
BEGIN
    RETURN format_type(p_type, coalesce(p_typmod, -1));
END;
$type_name$;
COMMENT ON FUNCTION cs9.type_name(oid, integer) IS 'A type as SQL writes it; without a length none is meant';
