-- Purpose: whether two expressions over the columns of a table are one, once each was read as often as it takes to print the
--          same again: PostgreSQL prints some otherwise after a dump was restored (varchar IN (…), BETWEEN … AND …).
-- Contract: both are as pg_get_expr prints them. Makes a table in cs9_staging for a moment, where the texts differ.
CREATE FUNCTION cs9.same_expression(p_table regclass, p_one text, p_other text)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $same_expression$
#variable_conflict error
BEGIN
    IF p_one IS NOT DISTINCT FROM p_other THEN
        RETURN true;
    ELSIF p_one IS NULL OR p_other IS NULL THEN
        RETURN false;
    END IF;
    RETURN cs9.settled_expression(p_table, p_one) = cs9.settled_expression(p_table, p_other);
EXCEPTION
    -- the one cannot be read where the other can
    WHEN syntax_error_or_access_rule_violation OR data_exception THEN
        RETURN false;
END;
$same_expression$;
COMMENT ON FUNCTION cs9.same_expression(regclass, text, text) IS 'Whether two expressions are one, once they were read';
