-- Purpose: how many bytes a value of a type takes at most, as far as the type says it: integers, dates, varchar(20).
-- Returns: null where the type sets no bound.
CREATE FUNCTION cs9.value_bound(p_type oid, p_typmod integer)
RETURNS integer
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $value_bound$
#variable_conflict error
DECLARE
    v_type pg_catalog.pg_type;
BEGIN
    SELECT t.* INTO STRICT v_type FROM pg_catalog.pg_type AS t WHERE t.oid = p_type;
    RETURN CASE
        WHEN v_type.typtype = 'd' THEN cs9.value_bound(v_type.typbasetype, v_type.typtypmod)
        WHEN v_type.typlen > 0 THEN v_type.typlen
        WHEN p_type IN ('pg_catalog.inet'::regtype, 'pg_catalog.cidr'::regtype) THEN 24
        WHEN p_typmod < 0 THEN NULL
        WHEN p_type IN ('pg_catalog.varchar'::regtype, 'pg_catalog.bpchar'::regtype)
            THEN (p_typmod - 4) * pg_encoding_max_length((SELECT d.encoding FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())) + 4
        WHEN p_type IN ('pg_catalog.bit'::regtype, 'pg_catalog.varbit'::regtype) THEN p_typmod / 8 + 16
        WHEN p_type = 'pg_catalog.numeric'::regtype THEN ((p_typmod - 4) >> 16) / 2 + 24
    END;
END;
$value_bound$;
COMMENT ON FUNCTION cs9.value_bound(oid, integer) IS 'How many bytes a value of a type takes at most, or null';
