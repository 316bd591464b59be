-- Purpose: a digest of a plan list that depends on its meaning alone: jsonb has one form for one value.
CREATE FUNCTION cs9.plans_digest(p_plans jsonb)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $plans_digest$
#variable_conflict error
BEGIN
    RETURN encode(sha256(convert_to(p_plans::text, 'UTF8')), 'hex');
END;
$plans_digest$;
COMMENT ON FUNCTION cs9.plans_digest(jsonb) IS 'SHA-256 of the canonical text of a plan list';
