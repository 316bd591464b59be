-- All that the catalogue says of a table ($1) and its partitions, one line a fact; by name, but for the oid of the table.
WITH r AS (
    SELECT c.*, c.oid::regclass::text AS name FROM pg_partition_tree($1::regclass) AS t JOIN pg_class AS c ON c.oid = t.relid
)
SELECT format('oid %s', $1::regclass::oid)
UNION ALL SELECT concat_ws(' ', 'relation', name, relkind, 'owner', relowner::regrole, 'persistence', relpersistence, 'access', am.amname, 'space', reltablespace,
    'rls', relrowsecurity, relforcerowsecurity, 'identity', relreplident, 'bound', pg_get_expr(relpartbound, r.oid), 'key', pg_get_partkeydef(r.oid))
    FROM r LEFT JOIN pg_am AS am ON am.oid = r.relam
UNION ALL SELECT concat_ws(' ', 'option', name, o) FROM r, unnest(reloptions) AS o
UNION ALL SELECT concat_ws(' ', 'toast option', r.name, o) FROM r JOIN pg_class AS t ON t.oid = r.reltoastrelid, unnest(t.reloptions) AS o
UNION ALL SELECT concat_ws(' ', 'grant', name, a) FROM r, unnest(relacl) AS a
UNION ALL SELECT concat_ws(' ', 'comment', name, obj_description(oid, 'pg_class')) FROM r
UNION ALL SELECT concat_ws(' ', 'column', name, attname, format_type(atttypid, atttypmod), 'not null', attnotnull, 'statistics', nullif(attstattarget, -1), attoptions,
    'storage', attstorage, 'compression', attcompression, 'identity', attidentity, 'generated', attgenerated, 'grants', attacl::text,
    'default', pg_get_expr(d.adbin, d.adrelid), 'local', attislocal, attinhcount, 'comment', col_description(r.oid, attnum),
    'place', (SELECT count(*) FROM pg_attribute AS b WHERE b.attrelid = a.attrelid AND b.attnum BETWEEN 1 AND a.attnum AND NOT b.attisdropped))
    FROM r JOIN pg_attribute AS a ON attrelid = r.oid LEFT JOIN pg_attrdef AS d ON adrelid = attrelid AND adnum = attnum WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT concat_ws(' ', 'constraint', name, conname, pg_get_constraintdef(k.oid), 'valid', convalidated, 'local', conislocal, coninhcount, 'comment', obj_description(k.oid, 'pg_constraint'))
    FROM r JOIN pg_constraint AS k ON conrelid = r.oid
UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), 'valid', indisvalid, 'primary', indisprimary, 'parent', inhparent::regclass, 'comment', obj_description(indexrelid, 'pg_class'))
    FROM r JOIN pg_index ON indrelid = r.oid LEFT JOIN pg_inherits ON inhrelid = indexrelid
UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), tgenabled) FROM r JOIN pg_trigger AS t ON tgrelid = r.oid WHERE tgparentid <> 0 OR NOT tgisinternal
UNION ALL SELECT concat_ws(' ', 'policy', name, polname, polcmd, pg_get_expr(polqual, polrelid), polroles::regrole[], obj_description(p.oid, 'pg_policy')) FROM r JOIN pg_policy AS p ON polrelid = r.oid
UNION ALL SELECT concat_ws(' ', 'publication', pubname, schemaname, tablename) FROM pg_publication_tables JOIN r ON r.oid = format('%I.%I', schemaname, tablename)::regclass
UNION ALL SELECT concat_ws(' ', 'statistics', pg_get_statisticsobjdef(s.oid)) FROM r JOIN pg_statistic_ext AS s ON stxrelid = r.oid
UNION ALL SELECT concat_ws(' ', 'view', ev_class::regclass, pg_get_viewdef(ev_class)) FROM r JOIN pg_depend AS d ON refobjid = r.oid AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite AS w ON w.oid = d.objid GROUP BY ev_class
UNION ALL SELECT concat_ws(' ', 'staged', relname) FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace
UNION ALL SELECT concat_ws(' ', 'in the schema', relname, relkind) FROM pg_class WHERE relnamespace = 'readers'::regnamespace
ORDER BY 1
