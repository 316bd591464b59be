-- Purpose: why a partition must not be taken out of its table: it has something of its own that its successor would lack,
--          or that would hold on to the old rows.
-- Returns: null when there is nothing.
-- What becomes of all that the catalogue says of a partition, column by column (what is not named here is PostgreSQL's own):
--   pg_class       relname, relnamespace, relpartbound: cs9.switch_partition. relowner, relacl: cs9.copy_partition_rights. relam,
--                  reltablespace, reloptions, those of its TOAST table too: cs9.copy_partition_settings. relreplident:
--                  cs9.finish_partition. relkind, relpersistence, relrowsecurity, relforcerowsecurity: refused here, where they
--                  are not as usual. reloftype: no partition has one.
--   pg_attribute   attname, atttypid, atttypmod, attcollation, attnotnull, attgenerated: must be the same, cs9.check_columns.
--                  attnum: the order is that of the definition. attidentity: comes from the table with the attachment.
--                  atthasdef: cs9.finish_partition. attstattarget, attstorage, attcompression, attoptions:
--                  cs9.copy_partition_settings. attacl: cs9.copy_partition_rights.
--   pg_index       all that makes its shape: cs9.build_partition_indexes. indisclustered, indisreplident, indimmediate, indisprimary:
--                  cs9.finish_partition. Tablespace, options, statistics targets: cs9.copy_index_settings. indisvalid: an index
--                  that is not valid goes with the old rows.
--   pg_constraint  checks: cs9.copy_partition_checks. Keys, names of NOT NULL: cs9.finish_partition. Foreign keys:
--                  cs9.swap_obstacle. Exclusion: refused here.
--   comments       cs9.copy_partition_comments
--   refused here   triggers, rules, policies, statistics objects, publications and subscriptions that name it, security labels,
--                  sequences that it owns, extensions, whatever depends on it or on the type of its rows
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
            SELECT 1, 'is UNLOGGED; ALTER TABLE … SET LOGGED'
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND c.relpersistence <> 'p'
            UNION ALL
            SELECT 2, format('has the trigger %I of its own; create it on the table', t.tgname)
            FROM pg_catalog.pg_trigger AS t
            WHERE t.tgrelid = p_leaf AND NOT t.tgisinternal AND t.tgparentid = 0
            UNION ALL
            SELECT 2, format('has the trigger %I otherwise enabled than the table', t.tgname)
            FROM pg_catalog.pg_trigger AS t
            JOIN pg_catalog.pg_trigger AS o ON o.oid = t.tgparentid AND o.tgenabled <> t.tgenabled
            WHERE t.tgrelid = p_leaf
            UNION ALL
            SELECT 2, format('has the rule %I of its own; create it on the table', w.rulename)
            FROM pg_catalog.pg_rewrite AS w
            WHERE w.ev_class = p_leaf
            UNION ALL
            SELECT 3, format('has the policy %I of its own; create it on the table', p.polname)
            FROM pg_catalog.pg_policy AS p
            WHERE p.polrelid = p_leaf
            UNION ALL
            SELECT 3, 'has row-level security of its own; set it up on the table'
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND (c.relrowsecurity OR c.relforcerowsecurity)
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
            SELECT 6, format('has rows whose type is used by %s; let it use that of the table', pg_describe_object(d.classid, d.objid, d.objsubid))
            FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_type AS y ON y.oid = c.reltype
            JOIN pg_catalog.pg_depend AS d ON d.refclassid = 'pg_catalog.pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray) AND d.deptype = 'n'
            WHERE c.oid = p_leaf
            UNION ALL
            SELECT 6, format('owns the sequence %s; let the table own it', d.objid::regclass)
            FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
            WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = p_leaf AND d.deptype IN ('a', 'i')
            UNION ALL
            SELECT 6, format('or an index of it belongs to or depends on the extension %I', e.extname)
            FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_extension AS e ON e.oid = d.refobjid
            WHERE d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.deptype IN ('e', 'x') AND d.classid = 'pg_catalog.pg_class'::regclass
              AND (d.objid = p_leaf OR d.objid IN (SELECT i.indexrelid FROM pg_catalog.pg_index AS i WHERE i.indrelid = p_leaf))
            UNION ALL
            SELECT 7, format('has the security label %L; set it on the table', l.label)
            FROM pg_catalog.pg_seclabel AS l
            WHERE l.classoid = 'pg_catalog.pg_class'::regclass AND l.objoid = p_leaf
            UNION ALL
            SELECT 7, 'is filled by a subscription'
            FROM pg_catalog.pg_subscription_rel AS s
            WHERE s.srrelid = p_leaf
            UNION ALL
            SELECT 7, format('has the constraint %I, a name that cs9gen keeps for itself', x.conname)
            FROM pg_catalog.pg_constraint AS x
            WHERE x.conrelid = p_leaf AND starts_with(x.conname, 'cs9_')
            UNION ALL
            SELECT 8, format('has the exclusion constraint %I', x.conname)
            FROM pg_catalog.pg_constraint AS x
            WHERE x.conrelid = p_leaf AND x.contype = 'x'
            UNION ALL
            SELECT 9, format('belongs to %I, and the publish acts as %I', c.relowner::regrole, current_user)
            FROM pg_catalog.pg_class AS c
            WHERE c.oid = p_leaf AND NOT pg_has_role(current_user, c.relowner, 'MEMBER')
            UNION ALL
            SELECT 9, format('or an index of it is in the tablespace %I, in which %I may not create', cs9.tablespace_name(c.reltablespace), current_user)
            FROM pg_catalog.pg_class AS c
            WHERE (c.oid = p_leaf OR c.oid IN (SELECT i.indexrelid FROM pg_catalog.pg_index AS i WHERE i.indrelid = p_leaf))
              AND c.reltablespace <> 0 AND NOT has_tablespace_privilege(c.reltablespace, 'CREATE')
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
