-- Purpose: what makes a value of a type comparable by the operators of an operator class: nothing, or for a domain the
--          cast to the type under it. A domain over an enum, array, range or composite type has no operator that takes it.
-- Returns: '' or '::type', as SQL writes it.
CREATE FUNCTION cs9.base_cast(p_type oid)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $base_cast$
#variable_conflict error
DECLARE
    v_type oid := p_type;
    v_base oid;
BEGIN
    LOOP
        SELECT t.typbasetype INTO STRICT v_base
        FROM pg_catalog.pg_type AS t
        WHERE t.oid = v_type;
        EXIT WHEN v_base = 0;
        v_type := v_base;
    END LOOP;
    RETURN CASE WHEN v_type = p_type THEN '' ELSE '::' || cs9.type_name(v_type, -1) END;
END;
$base_cast$;
COMMENT ON FUNCTION cs9.base_cast(oid) IS 'Cast of a domain to the type under it, for a comparison';
