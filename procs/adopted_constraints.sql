-- Purpose: which keys, unique constraints and checks of a model its relation lacks, or has otherwise. What the relation has
--          besides is no difference. Foreign keys are for cs9.adopted_foreign_keys.
CREATE FUNCTION cs9.adopted_constraints(p_model regclass, p_live regclass)
RETURNS SETOF text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $adopted_constraints$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH own AS (
        SELECT k.conrelid, k.conname, pg_get_constraintdef(k.oid) AS definition, k.contype, k.convalidated, k.connoinherit,
               pg_get_expr(k.conbin, k.conrelid) AS expression
        FROM pg_catalog.pg_constraint AS k
        WHERE k.conrelid IN (p_model, p_live) AND k.contype IN ('p', 'u', 'c')
          AND (k.conrelid = p_live OR k.coninhcount = 0)
    )
    SELECT CASE
               WHEN l.conname IS NULL THEN format('constraint %I is not there: %s', m.conname, m.definition) || coalesce(' (' || o.name || ' says that: name it exactly)', '')
               ELSE format('constraint %I: %s in the database, %s in the definition', m.conname, l.definition, m.definition)
           END
    FROM own AS m
    LEFT JOIN own AS l ON l.conrelid = p_live AND l.conname = m.conname
    LEFT JOIN LATERAL (
        SELECT quote_ident(x.conname) AS name
        FROM own AS x
        WHERE x.conrelid = p_live AND x.definition = m.definition
        ORDER BY x.conname COLLATE "C"
        LIMIT 1
    ) AS o ON true
    WHERE m.conrelid = p_model AND l.definition IS DISTINCT FROM m.definition
      AND (m.contype <> 'c' OR (l.contype, l.convalidated, l.connoinherit) IS DISTINCT FROM (m.contype, m.convalidated, m.connoinherit)
           OR NOT cs9.same_expression(p_model, m.expression, l.expression))
    ORDER BY m.conname COLLATE "C";
END;
$adopted_constraints$;
COMMENT ON FUNCTION cs9.adopted_constraints(regclass, regclass) IS 'Which constraints of its model a relation lacks, or has otherwise';
