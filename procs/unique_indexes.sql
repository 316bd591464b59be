-- Purpose: the unique indexes of a table or partition (and its exclusion constraints), as pieces of SQL for
--          cs9.check_unique; not those that a partition has from its table.
--   expressions  the indexed expressions, each named cs9_u1, cs9_u2, …
--   names, staged_names  these names, bare and with the alias cs9_s
--   key_columns  the indexed columns, sorted; null where an expression is indexed
--   predicate    rows that the index covers
--   comparable   rows whose values can collide
--   groups       whether GROUP BY tells values apart as the index does; an operator class may have an equality of its own
--   equal        staged cs9_s and live cs9_l have the same values
-- An exclusion constraint has its name only. The operators are those of the index's own operator class: citext must compare as citext.
CREATE FUNCTION cs9.unique_indexes(p_live regclass)
RETURNS TABLE (
    index_name   name,
    is_exclusion boolean,
    is_primary   boolean,
    key_columns  name[],
    expressions  text,
    names        text,
    staged_names text,
    predicate    text,
    comparable   text,
    equal        text,
    groups       boolean
)
LANGUAGE plpgsql
STABLE
ROWS 4
SET search_path = pg_catalog, pg_temp
AS $unique_indexes$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT
        c.relname,
        i.indisexclusion,
        i.indisprimary,
        k.key_columns,
        k.expressions,
        k.names,
        k.staged_names,
        coalesce('(' || pg_get_expr(i.indpred, i.indrelid) || ')', 'true'),
        CASE WHEN x.nulls_collide THEN 'true' ELSE k.not_null END,
        CASE WHEN x.nulls_collide THEN k.equal_or_both_null ELSE k.equal END,
        k.groups
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    -- NULLS NOT DISTINCT came with PostgreSQL 15: to_jsonb reads the column where there is one
    CROSS JOIN LATERAL (SELECT coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false) AS nulls_collide) AS x
    CROSS JOIN LATERAL (
        SELECT
            array_agg(t.attname ORDER BY t.attname) AS key_columns,
            string_agg(format('%s%s AS cs9_u%s', pg_get_indexdef(i.indexrelid, s.n, true), ' COLLATE ' || nullif(i.indcollation[s.n - 1], 0)::regcollation, s.n), ', ' ORDER BY s.n) AS expressions,
            string_agg(format('cs9_u%s', s.n), ', ' ORDER BY s.n) AS names,
            string_agg(format('cs9_s.cs9_u%s', s.n), ', ' ORDER BY s.n) AS staged_names,
            -- IS NOT NULL would ask whether the fields of a composite value are
            string_agg(format('cs9_u%s IS DISTINCT FROM NULL', s.n), ' AND ' ORDER BY s.n) AS not_null,
            string_agg(format('cs9_s.cs9_u%1$s%4$s OPERATOR(%2$I.%3$s) cs9_l.cs9_u%1$s%4$s', s.n, coalesce(n.nspname, ''), p.oprname, cs9.base_cast(e.atttypid)),
                       ' AND ' ORDER BY s.n) AS equal,
            string_agg(format('(cs9_s.cs9_u%1$s%4$s OPERATOR(%2$I.%3$s) cs9_l.cs9_u%1$s%4$s OR cs9_s.cs9_u%1$s IS NOT DISTINCT FROM NULL AND cs9_l.cs9_u%1$s IS NOT DISTINCT FROM NULL)',
                              s.n, coalesce(n.nspname, ''), p.oprname, cs9.base_cast(e.atttypid)),
                       ' AND ' ORDER BY s.n) AS equal_or_both_null,
            bool_and(o.opcdefault OR EXISTS (
                SELECT
                FROM pg_catalog.pg_opclass AS d
                JOIN pg_catalog.pg_amop AS m
                    ON m.amopfamily = d.opcfamily AND m.amopstrategy = 3
                   AND m.amoplefttype = d.opcintype AND m.amoprighttype = d.opcintype
                WHERE d.opcdefault AND d.opcmethod = o.opcmethod AND d.opcintype = o.opcintype AND m.amopopr = a.amopopr
            )) AS groups
        FROM generate_series(1, i.indnkeyatts) AS s (n)
        LEFT JOIN pg_catalog.pg_attribute AS t ON t.attrelid = i.indrelid AND t.attnum = i.indkey[s.n - 1]
        JOIN pg_catalog.pg_attribute AS e ON e.attrelid = i.indexrelid AND e.attnum = s.n
        JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[s.n - 1]
        LEFT JOIN pg_catalog.pg_amop AS a
            ON a.amopfamily = o.opcfamily AND a.amopstrategy = 3
           AND a.amoplefttype = o.opcintype AND a.amoprighttype = o.opcintype
           AND NOT i.indisexclusion
        LEFT JOIN pg_catalog.pg_operator AS p ON p.oid = a.amopopr
        LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = p.oprnamespace
    ) AS k
    WHERE i.indrelid = p_live
      AND (i.indisunique OR i.indisexclusion)
      AND NOT c.relispartition
    ORDER BY c.relname COLLATE "C";
END;
$unique_indexes$;
COMMENT ON FUNCTION cs9.unique_indexes(regclass) IS 'The unique indexes of a table, as pieces of SQL';
