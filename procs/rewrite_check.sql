-- Purpose: write a check of a table anew, for it to print as p_printed, which is what comes after CONSTRAINT … .
-- Returns: whether it does; it says the same in any case.
CREATE FUNCTION cs9.rewrite_check(p_table regclass, p_check name, p_printed text)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $rewrite_check$
#variable_conflict error
DECLARE
    v_text text;
    v_same boolean := false;
BEGIN
    FOR v_text IN SELECT r FROM cs9.readings(p_printed) AS r LOOP
        EXECUTE format('ALTER TABLE %1$s DROP CONSTRAINT %2$I, ADD CONSTRAINT %2$I %3$s', p_table, p_check, v_text);
        v_same := EXISTS (
            SELECT FROM pg_catalog.pg_constraint AS k
            WHERE k.conrelid = p_table AND k.contype = 'c' AND k.conname = p_check AND pg_get_constraintdef(k.oid) = p_printed);
        EXIT WHEN v_same;
    END LOOP;
    RETURN v_same;
END;
$rewrite_check$;
COMMENT ON FUNCTION cs9.rewrite_check(regclass, name, text) IS 'Writes a check of a table anew, for it to print as it should';
