-- Purpose: why a partition must not be taken out of its table: it has something of its own that its successor would lack,
--          or that would hold on to the old rows.
-- Returns: null when there is nothing.
CREATE FUNCTION cs9.partition_obstacle(p_leaf regclass)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $partition_obstacle$
#variable_conflict error
BEGIN
    RETURN (
        SELECT format('partition %s %s', p_leaf, o.what)
        FROM (
            SELECT 1 AS n, CASE c.relkind WHEN 'p' THEN 'has partitions of its own' ELSE 'is no ordinary table' END AS what
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND c.relkind <> 'r'
            UNION ALL
            SELECT 2, format('has the trigger %I of its own; create it on the table', t.tgname)
            FROM pg_catalog.pg_trigger AS t
            WHERE t.tgrelid = p_leaf AND NOT t.tgisinternal AND t.tgparentid = 0
            UNION ALL
            SELECT 3, 'has row-level security of its own; set it up on the table'
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND c.relrowsecurity
            UNION ALL
            SELECT 4, format('has the statistics object %I; create it on the table', s.stxname)
            FROM pg_catalog.pg_statistic_ext AS s
            WHERE s.stxrelid = p_leaf
            UNION ALL
            SELECT 5, format('is named by the publication %I; name the table', p.pubname)
            FROM pg_catalog.pg_publication_rel AS r
            JOIN pg_catalog.pg_publication AS p ON p.oid = r.prpubid
            WHERE r.prrelid = p_leaf
            UNION ALL
            SELECT 6, format('is used by %s; let it use the table', pg_describe_object(d.classid, d.objid, d.objsubid))
            FROM pg_catalog.pg_depend AS d
            WHERE d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = p_leaf AND d.deptype = 'n'
              AND d.classid NOT IN ('pg_catalog.pg_constraint'::regclass, 'pg_catalog.pg_attrdef'::regclass)
            UNION ALL
            SELECT 7, format('identifies rows for replication by the index %s', i.indexrelid::regclass)
            FROM pg_catalog.pg_index AS i
            WHERE i.indrelid = p_leaf AND i.indisreplident
            UNION ALL
            SELECT 8, format('has the exclusion constraint %I', x.conname)
            FROM pg_catalog.pg_constraint AS x
            WHERE x.conrelid = p_leaf AND x.contype = 'x'
            UNION ALL
            SELECT 9, format('belongs to %I, and the publish acts as %I', c.relowner::regrole, current_user)
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND NOT pg_has_role(current_user, c.relowner, 'MEMBER')
            UNION ALL
            SELECT 10, format('is in a schema in which %I may not create', current_user)
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND NOT has_schema_privilege(c.relnamespace, 'CREATE')
        ) AS o
        ORDER BY o.n, o.what
        LIMIT 1
    );
END;
$partition_obstacle$;
COMMENT ON FUNCTION cs9.partition_obstacle(regclass) IS 'Why a partition must not be swapped, or null';
