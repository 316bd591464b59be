-- Purpose: checks of two tables that say the same, and print otherwise, print alike: PostgreSQL attaches a partition only then.
-- How:     the one of p_table, which is empty, is written as that of p_like prints; where that reads back otherwise, p_like gets
--          that of p_table, and its rows are read.
CREATE FUNCTION cs9.rewrite_checks(p_table regclass, p_like regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $rewrite_checks$
#variable_conflict error
DECLARE
    v_check record;
BEGIN
    FOR v_check IN
        SELECT t.conname, pg_get_constraintdef(t.oid) AS own, pg_get_constraintdef(l.oid) AS other
        FROM pg_catalog.pg_constraint AS t
        JOIN pg_catalog.pg_constraint AS l ON l.conrelid = p_like AND l.contype = 'c' AND l.conname = t.conname
        WHERE t.conrelid = p_table AND t.contype = 'c' AND pg_get_constraintdef(l.oid) <> pg_get_constraintdef(t.oid)
          AND cs9.same_expression(p_table, pg_get_expr(t.conbin, t.conrelid), pg_get_expr(l.conbin, l.conrelid))
    LOOP
        IF NOT cs9.rewrite_check(p_table, v_check.conname, v_check.other) THEN
            -- the text of the one that was there is what the other can be read from
            PERFORM cs9.rewrite_check(p_like, v_check.conname, (
                SELECT pg_get_constraintdef(k.oid) FROM pg_catalog.pg_constraint AS k WHERE k.conrelid = p_table AND k.contype = 'c' AND k.conname = v_check.conname));
        END IF;
    END LOOP;
END;
$rewrite_checks$;
COMMENT ON FUNCTION cs9.rewrite_checks(regclass, regclass) IS 'Lets checks of two tables that say the same print alike';
