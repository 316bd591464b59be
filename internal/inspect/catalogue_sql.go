package inspect

// What a later PostgreSQL has and an older one has not is read by its name out
// of the whole row, so that one query does for all: to_jsonb(row) ->> 'column'.

const relationsSQL = `
SELECT
    c.oid,
    c.relname::text AS name,
    c.relkind::text AS kind,
    c.relpersistence::text AS persistence,
    coalesce((SELECT i.inhparent::regclass::text FROM pg_inherits AS i WHERE i.inhrelid = c.oid AND c.relispartition), '') AS partition_of,
    NOT c.relispartition AND EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid) AS is_child,
    c.relkind <> 'p' AND EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = c.oid) AS is_parent,
    c.relrowsecurity AS row_security,
    c.relreplident::text AS replica_identity,
    c.reloftype <> 0 AS typed,
    coalesce(c.reloptions, '{}') AS options,
    coalesce(m.amname::text, 'heap') AS access_method,
    coalesce(s.spcname::text, '') AS tablespace,
    coalesce(obj_description(c.oid, 'pg_class'), '') AS comment,
    coalesce((SELECT e.extname::text
              FROM pg_depend AS d
              JOIN pg_extension AS e ON e.oid = d.refobjid
              WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
                AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'), '') AS extension
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_am AS m ON m.oid = c.relam
LEFT JOIN pg_tablespace AS s ON s.oid = c.reltablespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
ORDER BY c.relname COLLATE "C"`

const columnsSQL = `
SELECT
    a.attrelid AS oid,
    a.attname::text AS name,
    format_type(a.atttypid, a.atttypmod) AS type,
    a.attnotnull AS not_null,
    a.attidentity::text AS identity,
    a.attgenerated::text AS generated,
    coalesce(pg_get_expr(d.adbin, d.adrelid, true), '') AS expression,
    coalesce(co.collname::text, '') AS collation,
    coalesce(cn.nspname::text, '') AS collation_schema,
    coalesce(col_description(a.attrelid, a.attnum), '') AS comment,
    coalesce(s.name, '') AS sequence,
    coalesce(s.schema, '') AS sequence_schema,
    coalesce(s.plain, true) AS sequence_plain
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_collation AS co ON co.oid = a.attcollation AND a.attcollation <> t.typcollation
LEFT JOIN pg_namespace AS cn ON cn.oid = co.collnamespace
LEFT JOIN LATERAL (
    SELECT
        sc.relname::text AS name,
        sn.nspname::text AS schema,
        q.seqstart = 1 AND q.seqincrement = 1 AND q.seqmin = 1 AND q.seqcache = 1 AND NOT q.seqcycle
            AND q.seqtypid = a.atttypid
            AND q.seqmax = CASE q.seqtypid::regtype::text
                               WHEN 'smallint' THEN 32767 WHEN 'integer' THEN 2147483647 ELSE 9223372036854775807 END AS plain
    FROM pg_depend AS o
    JOIN pg_class AS sc ON sc.oid = o.objid AND sc.relkind = 'S'
    JOIN pg_namespace AS sn ON sn.oid = sc.relnamespace
    JOIN pg_sequence AS q ON q.seqrelid = sc.oid
    WHERE o.classid = 'pg_class'::regclass AND o.refclassid = 'pg_class'::regclass AND o.refobjid = a.attrelid
      AND o.refobjsubid = a.attnum AND o.deptype = 'i' AND a.attidentity <> ''
) AS s ON true
WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum`

const indexesSQL = `
SELECT
    i.indrelid AS oid,
    i.indexrelid AS index_oid,
    c.relname::text AS name,
    m.amname::text AS method,
    i.indisunique AS "unique",
    i.indisvalid AND i.indisready AS valid,
    coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false) AS nulls_not_distinct,
    EXISTS (SELECT FROM pg_constraint AS o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u', 'x')) AS "constraint",
    EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhrelid = i.indexrelid) AS attached,
    i.indnkeyatts::integer AS keys,
    format('ON %s%I.%I USING %I (', CASE WHEN t.relkind = 'p' THEN 'ONLY ' END, tn.nspname, t.relname, m.amname) AS head,
    pg_get_indexdef(i.indexrelid) AS definition,
    ARRAY (SELECT pg_get_indexdef(i.indexrelid, k.n, false) FROM generate_series(1, i.indnatts::integer) AS k (n) ORDER BY k.n) AS items,
    ARRAY (SELECT pg_get_indexdef(i.indexrelid, k.n, true) FROM generate_series(1, i.indnatts::integer) AS k (n) ORDER BY k.n) AS pretty,
    ARRAY (SELECT coalesce(a.attname::text, '')
           FROM generate_series(0, i.indnatts - 1) AS k (n)
           LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.n] AND i.indkey[k.n] <> 0
           ORDER BY k.n) AS columns,
    coalesce(pg_get_expr(i.indpred, i.indrelid, true), '') AS predicate,
    coalesce(c.reloptions, '{}') AS options,
    coalesce(s.spcname::text, '') AS tablespace,
    coalesce(obj_description(c.oid, 'pg_class'), '') AS comment
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
JOIN pg_class AS t ON t.oid = i.indrelid
JOIN pg_namespace AS tn ON tn.oid = t.relnamespace
JOIN pg_am AS m ON m.oid = c.relam
LEFT JOIN pg_tablespace AS s ON s.oid = c.reltablespace
WHERE i.indrelid = ANY ($1)
ORDER BY i.indrelid, c.relname COLLATE "C"`

const constraintsSQL = `
SELECT
    o.conrelid AS oid,
    o.conname::text AS name,
    o.contype::text AS type,
    o.condeferrable AS deferrable,
    o.condeferred AS deferred,
    o.convalidated AS validated,
    coalesce((to_jsonb(o) ->> 'conenforced')::boolean, true) AS enforced,
    coalesce((to_jsonb(o) ->> 'conperiod')::boolean, false) AS period,
    o.connoinherit AS no_inherit,
    o.coninhcount > 0 OR o.conparentid <> 0 AS inherited,
    o.conindid AS index_oid,
    ARRAY (SELECT a.attname::text
           FROM unnest(o.conkey) WITH ORDINALITY AS k (n, place)
           JOIN pg_attribute AS a ON a.attrelid = o.conrelid AND a.attnum = k.n
           ORDER BY k.place) AS columns,
    coalesce(pg_get_expr(o.conbin, o.conrelid, true), '') AS expression,
    o.confrelid AS ref_oid,
    coalesce(rn.nspname::text, '') AS ref_schema,
    coalesce(r.relname::text, '') AS ref_table,
    ARRAY (SELECT a.attname::text
           FROM unnest(o.confkey) WITH ORDINALITY AS k (n, place)
           JOIN pg_attribute AS a ON a.attrelid = o.confrelid AND a.attnum = k.n
           ORDER BY k.place) AS ref_columns,
    EXISTS (SELECT FROM pg_constraint AS p
            WHERE p.conrelid = o.confrelid AND p.contype = 'p' AND p.conkey = o.confkey) AS ref_key,
    o.confupdtype::text AS on_update,
    o.confdeltype::text AS on_delete,
    o.confmatchtype::text AS match,
    coalesce(to_jsonb(o) -> 'confdelsetcols', 'null') <> 'null' AS set_columns,
    coalesce(obj_description(o.oid, 'pg_constraint'), '') AS comment
FROM pg_constraint AS o
LEFT JOIN pg_class AS r ON r.oid = o.confrelid
LEFT JOIN pg_namespace AS rn ON rn.oid = r.relnamespace
WHERE o.conrelid = ANY ($1) AND (o.contype IN ('p', 'u', 'c', 'f', 'x') OR o.contype = 'n' AND NOT o.convalidated)
ORDER BY o.conrelid, o.conname COLLATE "C"`

const extrasSQL = `
SELECT w.ev_class AS oid, CASE w.ev_enabled WHEN 'D' THEN 'disabled rule' ELSE 'rule' END AS kind, w.rulename::text AS name
FROM pg_rewrite AS w
WHERE w.ev_class = ANY ($1) AND w.rulename <> '_RETURN'
UNION ALL
SELECT t.tgrelid, 'trigger', t.tgname::text
FROM pg_trigger AS t
WHERE t.tgrelid = ANY ($1) AND NOT t.tgisinternal AND t.tgparentid = 0
UNION ALL
SELECT s.stxrelid, 'statistics', s.stxname::text
FROM pg_statistic_ext AS s
WHERE s.stxrelid = ANY ($1)
ORDER BY 1, 2, 3`

const routinesSQL = `
SELECT p.proname::text AS name, oidvectortypes(p.proargtypes) AS arguments
FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = $1`

const partitionKeysSQL = `
SELECT
    p.partrelid AS oid,
    p.partstrat::text AS strategy,
    k.columns,
    pg_get_partkeydef(p.partrelid) AS definition,
    pg_get_partkeydef(p.partrelid) = format('%s (%s)', CASE p.partstrat WHEN 'l' THEN 'LIST' WHEN 'r' THEN 'RANGE' ELSE 'HASH' END, k.list) AS plain
FROM pg_partitioned_table AS p
CROSS JOIN LATERAL (
    SELECT
        array_agg(coalesce(a.attname::text, '') ORDER BY g.n) AS columns,
        string_agg(quote_ident(a.attname), ', ' ORDER BY g.n) AS list
    FROM generate_series(0, p.partnatts - 1) AS g (n)
    LEFT JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[g.n] AND p.partattrs[g.n] <> 0
) AS k
WHERE p.partrelid = ANY ($1)`

const partitionsSQL = `
WITH RECURSIVE tree AS (
    SELECT i.inhparent AS parent, i.inhrelid AS oid, i.inhdetachpending AS detaching
    FROM pg_inherits AS i
    JOIN pg_partitioned_table AS p ON p.partrelid = i.inhparent
    WHERE i.inhparent = ANY ($1)
      AND NOT EXISTS (SELECT FROM pg_inherits AS u WHERE u.inhrelid = i.inhparent)
    UNION ALL
    SELECT i.inhparent, i.inhrelid, i.inhdetachpending
    FROM tree AS t
    JOIN pg_inherits AS i ON i.inhparent = t.oid
)
SELECT
    t.parent,
    t.oid,
    t.detaching,
    c.relname::text AS name,
    n.nspname::text AS schema,
    c.relpersistence::text AS persistence,
    coalesce(pg_get_expr(c.relpartbound, c.oid), '') AS bound
FROM tree AS t
JOIN pg_class AS c ON c.oid = t.oid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
ORDER BY c.relname COLLATE "C"`

const registrationsSQL = `
SELECT
    c.oid,
    coalesce(to_regclass(format('%I.%I', d.schema_name, d.staging_name))::oid, 0::oid) AS template,
    d.publish_mode AS mode,
    d.adopted,
    coalesce(d.runner_role::text, '') AS runner,
    coalesce(d.publisher_role::text, '') AS publisher,
    d.search_path::text[] AS path,
    -- others may have been granted it by hand, of an adopted table before it was
    CASE
        WHEN d.adopted THEN ARRAY (
            SELECT g.value ->> 'role'
            FROM jsonb_array_elements(d.adopted_grants) AS g (value)
            WHERE g.value ->> 'column' IS NULL AND g.value ->> 'sequence' IS NULL AND g.value ->> 'role' IS DISTINCT FROM d.runner_role
            ORDER BY 1)
        ELSE ARRAY (
            SELECT r.rolname::text
            FROM aclexplode(c.relacl) AS a
            JOIN pg_roles AS r ON r.oid = a.grantee
            WHERE a.privilege_type = 'SELECT' AND a.grantee <> c.relowner AND r.rolname IS DISTINCT FROM d.runner_role
            ORDER BY r.rolname)
    END AS readers
FROM cs9.table_definition AS d
JOIN pg_namespace AS n ON n.nspname = d.schema_name
JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = d.table_name
WHERE d.schema_name = $1`

// settingSQL reads the search_path that database and role set, as the schemas that are
// there; null where it is the session's own, which says nothing of the sessions that
// write the tables.
const settingSQL = `
SELECT CASE WHEN p.source IN ('configuration file', 'command line', 'global', 'database', 'user', 'database user')
            THEN pg_catalog.current_schemas(false)::pg_catalog.text[] END
FROM pg_catalog.pg_settings AS p
WHERE p.name OPERATOR(pg_catalog.=) 'search_path'`

// pathSQL says of the schemas of a search_path, as far as a definition can name them,
// who else may create in them.
const pathSQL = `
SELECT s.name, coalesce(g.name, '') AS others
FROM unnest($1::text[]) WITH ORDINALITY AS s (name, n)
JOIN pg_namespace AS c ON c.nspname = s.name
LEFT JOIN LATERAL (
    SELECT CASE a.grantee WHEN 0 THEN 'everybody' ELSE a.grantee::regrole::text END AS name
    FROM (
        SELECT x.grantee FROM aclexplode(c.nspacl) AS x WHERE x.privilege_type = 'CREATE' AND x.grantee <> c.nspowner
        UNION
        -- the predefined role has one member, which owns the database
        SELECT CASE WHEN c.nspowner::regrole::text = 'pg_database_owner' THEN d.datdba ELSE c.nspowner END FROM pg_database AS d WHERE d.datname = current_database()
    ) AS a
    LEFT JOIN pg_roles AS r ON r.oid = a.grantee
    WHERE NOT coalesce(r.rolsuper, false)
      AND a.grantee <> coalesce((SELECT o.relowner FROM pg_class AS o WHERE o.oid = to_regclass('cs9.run')), current_user::regrole::oid)
    ORDER BY a.grantee
    LIMIT 1
) AS g ON true
WHERE s.name = 'pg_catalog' OR NOT starts_with(s.name, 'pg_') AND s.name <> 'information_schema'
ORDER BY s.n`

// countingSQL finds the relations on which something hangs that may count on a
// search_path: a routine of a user's whose body is read when it runs, in a trigger,
// a check, a generated column, a default or an index.
const countingSQL = `
WITH counting AS (
    SELECT p.oid
    FROM pg_proc AS p
    JOIN pg_language AS l ON l.oid = p.prolang
    WHERE p.pronamespace <> 'pg_catalog'::regnamespace
      AND l.lanname NOT IN ('internal', 'c')
      AND NOT coalesce(p.proconfig::text LIKE '%search_path=%', false)
      AND to_jsonb(p) ->> 'prosqlbody' IS NULL
    UNION
    -- an operator stands for its routine
    SELECT o.oid FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = o.oprcode JOIN pg_language AS l ON l.oid = p.prolang
    WHERE p.pronamespace <> 'pg_catalog'::regnamespace AND l.lanname NOT IN ('internal', 'c')
), hanging AS (
    SELECT t.tgrelid AS relation, t.tgfoid AS uses FROM pg_trigger AS t WHERE t.tgrelid = ANY ($1) AND NOT t.tgisinternal
    UNION ALL
    SELECT e.relation, d.refobjid
    FROM (
        SELECT c.conrelid AS relation, 'pg_constraint'::regclass AS class, c.oid FROM pg_constraint AS c WHERE c.conrelid = ANY ($1)
        UNION ALL
        SELECT a.adrelid, 'pg_attrdef'::regclass, a.oid FROM pg_attrdef AS a WHERE a.adrelid = ANY ($1)
        UNION ALL
        SELECT i.indrelid, 'pg_class'::regclass, i.indexrelid FROM pg_index AS i WHERE i.indrelid = ANY ($1)
        UNION ALL
        -- up to PostgreSQL 14 a generated column depends itself
        SELECT a.attrelid, 'pg_class'::regclass, a.attrelid FROM pg_attribute AS a WHERE a.attrelid = ANY ($1) AND a.attgenerated <> ''
    ) AS e
    JOIN pg_depend AS d ON d.classid = e.class AND d.objid = e.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
)
SELECT DISTINCT h.relation AS oid
FROM hanging AS h
JOIN counting AS c ON c.oid = h.uses`
