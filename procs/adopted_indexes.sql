-- Purpose: which indexes of a model its relation lacks, or has otherwise. What the relation has besides is no difference.
--          Indexes of constraints are for cs9.adopted_constraints.
CREATE FUNCTION cs9.adopted_indexes(p_model regclass, p_live regclass)
RETURNS SETOF text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $adopted_indexes$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH own AS (
        SELECT i.indrelid, i.indexrelid, c.relname, i.indisvalid, cs9.index_shape(i.indexrelid) AS shape,
               EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')) AS of_constraint
        FROM pg_catalog.pg_index AS i
        JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid IN (p_model, p_live) AND NOT c.relispartition
    )
    SELECT CASE
               WHEN l.relname IS NULL THEN format('index %I is not there', m.relname) || coalesce(' (' || o.name || ' has its columns: name it exactly)', '')
               WHEN l.of_constraint THEN format('index %I is a constraint in the database, and belongs under keys or unique', m.relname)
               WHEN NOT l.indisvalid THEN format('index %I was not built to its end: build it anew', m.relname)
               ELSE format('index %I: %s in the database, %s in the definition', m.relname, l.shape, m.shape)
           END
    FROM own AS m
    LEFT JOIN own AS l ON l.indrelid = p_live AND l.relname = m.relname
    LEFT JOIN LATERAL (
        SELECT quote_ident(x.relname) AS name
        FROM own AS x
        WHERE x.indrelid = p_live AND x.shape = m.shape AND NOT x.of_constraint
        ORDER BY x.relname COLLATE "C"
        LIMIT 1
    ) AS o ON true
    WHERE m.indrelid = p_model AND NOT m.of_constraint
      AND (l.relname IS NULL OR l.of_constraint OR NOT l.indisvalid
           OR l.shape <> m.shape AND cs9.settled_index(l.indexrelid) <> cs9.settled_index(m.indexrelid))
    ORDER BY m.relname COLLATE "C";
END;
$adopted_indexes$;
COMMENT ON FUNCTION cs9.adopted_indexes(regclass, regclass) IS 'Which indexes of its model a relation lacks, or has otherwise';
