-- Purpose: whether an error was raised in a trigger that is there to look at all rows of a statement or a transaction together: one
--          that fires once after the statement, or a constraint trigger that can be deferred. What it says to one row is not what
--          it says to all.
-- Contract: p_context is the context of the error. A trigger of TRUNCATE sees no rows, and does not count.
CREATE FUNCTION cs9.sees_other_rows(p_relation regclass, p_context text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $sees_other_rows$
#variable_conflict error
BEGIN
    RETURN EXISTS (
        SELECT
        FROM pg_catalog.pg_trigger AS t
        JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
        WHERE t.tgrelid IN (SELECT r::oid FROM cs9.with_partitions(p_relation) AS r)
          AND NOT t.tgisinternal
          AND (t.tgdeferrable OR t.tgtype & (1 | 2 | 32) = 0)
          AND greatest(strpos(p_context, format(' %I() line ', p.proname)), strpos(p_context, format('.%I() line ', p.proname))) > 0
    );
END;
$sees_other_rows$;
COMMENT ON FUNCTION cs9.sees_other_rows(regclass, text) IS 'Whether an error was raised in a trigger that looks at all rows together';
