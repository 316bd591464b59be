-- What is installed, one row an object:
--   object    its kind and name
--   belongs   the object without which it cannot be; '' for a schema
--   copy_of   what it is a copy of, for what a partition has of its table; '' for anything else
--   summary   what it is, in one line
--   owner     the role that owns it, or what it is part of
--   facts     all in which it can differ
-- $1: relations by their qualified names; their partitions, and what belongs to both, come too. $2: routines likewise,
-- besides those of schema cs9. $3: schemas, besides those of cs9gen. All names are read with an empty search_path.
-- Only the system catalogues are asked, which every role may read.
WITH named AS (
    SELECT c.oid
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE format('%I.%I', n.nspname, c.relname) = ANY ($1::text[])
),
-- whose nearly all is: one role in each database, whatever its name
usual AS (
    SELECT mode() WITHIN GROUP (ORDER BY p.proowner) AS owner
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = 'cs9'
),
relation AS (
    SELECT c.oid, c.relkind, c.relowner, c.relacl, c.reloptions, c.relpersistence, c.relpartbound, n.nspname,
           format('%I.%I', n.nspname, c.relname) AS label,
           format('%s %I.%I', CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END, n.nspname, c.relname) AS object,
           w.label AS whole
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN LATERAL (
        SELECT format('%I.%I', wn.nspname, wc.relname) AS label
        FROM pg_inherits AS i
        JOIN pg_class AS wc ON wc.oid = i.inhparent
        JOIN pg_namespace AS wn ON wn.oid = wc.relnamespace
        WHERE i.inhrelid = c.oid AND c.relispartition
    ) AS w ON true
    WHERE c.relkind IN ('r', 'p', 'v')
      AND (n.nspname = 'cs9'
           OR c.oid IN (SELECT named.oid FROM named)
           OR c.oid IN (SELECT t.relid FROM named CROSS JOIN LATERAL pg_partition_tree(named.oid) AS t))
),
schema_object AS (
    SELECT format('schema %I', n.nspname) AS object, NULL AS belongs, NULL AS copy_of, 'a schema' AS summary, '{}'::jsonb AS facts,
           n.nspowner AS owner, n.nspname IN ('cs9', 'cs9_staging') AS is_ours, coalesce(n.nspacl, acldefault('n', n.nspowner)) AS acl,
           'pg_namespace'::regclass AS class, n.oid, 0 AS sub
    FROM pg_namespace AS n
    WHERE n.nspname IN ('cs9', 'cs9_staging') OR n.nspname = ANY ($3::text[])
),
relation_object AS (
    SELECT r.object, CASE WHEN r.whole IS NULL THEN format('schema %I', r.nspname) ELSE 'table ' || r.whole END, NULL,
           CASE WHEN r.relkind = 'v' THEN 'a view' WHEN r.whole IS NOT NULL THEN 'a partition of ' || r.whole ELSE 'a table' END,
           jsonb_build_object(
               'kind', CASE r.relkind WHEN 'p' THEN 'partitioned by ' || pg_get_partkeydef(r.oid) WHEN 'r' THEN 'plain' END,
               'logged', CASE WHEN r.relkind = 'r' THEN CASE r.relpersistence WHEN 'p' THEN 'yes' ELSE 'no' END END,
               'partition of', r.whole || ' ' || pg_get_expr(r.relpartbound, r.oid),
               'definition', CASE WHEN r.relkind = 'v' THEN pg_get_viewdef(r.oid) END,
               'options', CASE WHEN r.relkind = 'v' THEN array_to_string(r.reloptions, ', ') END),
           r.relowner, true, coalesce(r.relacl, acldefault('r', r.relowner)), 'pg_class'::regclass, r.oid, 0
    FROM relation AS r
),
column_object AS (
    SELECT format('column %s.%I', r.label, a.attname), r.object, 'column ' || r.whole || format('.%I', a.attname),
           concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END),
           jsonb_build_object(
               'type', format_type(a.atttypid, a.atttypmod),
               'collation', CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation::regcollation::text END,
               'NOT NULL', CASE WHEN a.attnotnull THEN 'yes' ELSE 'no' END,
               'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END,
               'generated', CASE WHEN a.attgenerated <> '' THEN
                   format('(%s) %s', pg_get_expr(d.adbin, d.adrelid), CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END) END,
               'identity', CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END),
           r.relowner, false, a.attacl, 'pg_class'::regclass, r.oid, a.attnum::integer
    FROM relation AS r
    JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE r.relkind IN ('r', 'p')
),
sequence_object AS (
    SELECT format('sequence %I.%I', n.nspname, c.relname), format('column %s.%I', r.label, a.attname), NULL, 'the sequence of its column',
           jsonb_build_object(
               'type', s.seqtypid::regtype::text,
               'increment', s.seqincrement::text,
               'least value', s.seqmin::text,
               'greatest value', s.seqmax::text,
               'cache', s.seqcache::text,
               'cycle', CASE WHEN s.seqcycle THEN 'yes' ELSE 'no' END),
           c.relowner, true, coalesce(c.relacl, acldefault('s', c.relowner)), 'pg_class'::regclass, c.oid, 0
    FROM relation AS r
    JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = r.oid AND d.refobjsubid > 0
                       AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum = d.refobjsubid
    JOIN pg_sequence AS s ON s.seqrelid = d.objid
    JOIN pg_class AS c ON c.oid = s.seqrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
),
-- NOT NULL is told of the column; a foreign key of a partition, of its table
constraint_object AS (
    SELECT format('constraint %I of %s', k.conname, r.label), r.object,
           'constraint ' || quote_ident(CASE WHEN k.contype = 'c' AND k.coninhcount > 0 THEN k.conname ELSE w.conname END) || ' of ' || r.whole,
           pg_get_constraintdef(k.oid), jsonb_build_object('definition', pg_get_constraintdef(k.oid)),
           r.relowner, false, NULL::aclitem[], 'pg_constraint'::regclass, k.oid, 0
    FROM relation AS r
    JOIN pg_constraint AS k ON k.conrelid = r.oid AND k.contype IN ('c', 'p', 'u', 'x', 'f')
    LEFT JOIN pg_constraint AS w ON w.oid = k.conparentid
    WHERE k.contype <> 'f' OR k.conparentid = 0
),
index_object AS (
    SELECT format('index %I.%I', r.nspname, c.relname), coalesce('constraint ' || quote_ident(k.conname) || ' of ' || r.label, r.object),
           'index ' || w.label, pg_get_indexdef(x.indexrelid),
           jsonb_build_object(
               'definition', CASE WHEN k.oid IS NULL THEN pg_get_indexdef(x.indexrelid) END,
               'state', CASE WHEN x.indisvalid AND x.indisready THEN 'valid' ELSE 'invalid' END,
               'partition of', w.label),
           r.relowner, false, NULL::aclitem[], 'pg_class'::regclass, c.oid, 0
    FROM relation AS r
    JOIN pg_index AS x ON x.indrelid = r.oid
    JOIN pg_class AS c ON c.oid = x.indexrelid
    LEFT JOIN pg_constraint AS k ON k.conrelid = r.oid AND k.conindid = x.indexrelid AND k.contype IN ('p', 'u', 'x')
    LEFT JOIN LATERAL (
        SELECT format('%I.%I', wn.nspname, wc.relname) AS label
        FROM pg_inherits AS i
        JOIN pg_class AS wc ON wc.oid = i.inhparent
        JOIN pg_namespace AS wn ON wn.oid = wc.relnamespace
        WHERE i.inhrelid = x.indexrelid
    ) AS w ON true
),
trigger_object AS (
    SELECT format('trigger %I on %s', t.tgname, r.label), r.object, NULL, pg_get_triggerdef(t.oid),
           jsonb_build_object(
               'definition', pg_get_triggerdef(t.oid),
               'state', CASE t.tgenabled WHEN 'O' THEN 'enabled' WHEN 'D' THEN 'disabled' WHEN 'A' THEN 'always enabled' ELSE 'enabled on a replica' END),
           r.relowner, false, NULL::aclitem[], 'pg_trigger'::regclass, t.oid, 0
    FROM relation AS r
    JOIN pg_trigger AS t ON t.tgrelid = r.oid AND NOT t.tgisinternal AND t.tgparentid = 0
),
routine_object AS (
    SELECT format('routine %I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)), format('schema %I', n.nspname), NULL,
           CASE p.prokind WHEN 'p' THEN 'a procedure' ELSE 'a function' END,
           coalesce((SELECT jsonb_object_agg('setting ' || split_part(s, '=', 1), CASE WHEN s LIKE 'search_path=%' THEN replace(substr(s, strpos(s, '=') + 1), '"', '') ELSE substr(s, strpos(s, '=') + 1) END) FROM unnest(p.proconfig) AS s), '{}')
           || jsonb_build_object(
               'kind', CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END,
               'arguments', pg_get_function_arguments(p.oid),
               'result', pg_get_function_result(p.oid),
               'language', l.lanname,
               'body', p.prosrc,
               'security', CASE WHEN p.prosecdef THEN 'DEFINER' ELSE 'INVOKER' END,
               'volatility', CASE p.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
               'parallel', CASE p.proparallel WHEN 's' THEN 'SAFE' WHEN 'r' THEN 'RESTRICTED' ELSE 'UNSAFE' END,
               'strict', CASE WHEN p.proisstrict THEN 'yes' ELSE 'no' END,
               'leakproof', CASE WHEN p.proleakproof THEN 'yes' ELSE 'no' END),
           p.proowner, true, coalesce(p.proacl, acldefault('f', p.proowner)), 'pg_proc'::regclass, p.oid, 0
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    JOIN pg_language AS l ON l.oid = p.prolang
    WHERE p.prokind IN ('f', 'p')
      AND (n.nspname = 'cs9' OR format('%I.%I', n.nspname, p.proname) = ANY ($2::text[]))
),
type_object AS (
    SELECT format('type %I.%I', n.nspname, t.typname), format('schema %I', n.nspname), NULL, 'a domain',
           jsonb_build_object(
               'type', format_type(t.typbasetype, t.typtypmod),
               'NOT NULL', CASE WHEN t.typnotnull THEN 'yes' ELSE 'no' END,
               'default', t.typdefault,
               'constraints', (SELECT string_agg(pg_get_constraintdef(k.oid), ', ' ORDER BY k.conname)
                               FROM pg_constraint AS k WHERE k.contypid = t.oid AND k.contype = 'c')),
           t.typowner, true, coalesce(t.typacl, acldefault('T', t.typowner)), 'pg_type'::regclass, t.oid, 0
    FROM pg_type AS t
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    WHERE n.nspname = 'cs9' AND t.typtype = 'd'
),
all_objects AS (
    SELECT * FROM schema_object
    UNION ALL SELECT * FROM relation_object
    UNION ALL SELECT * FROM column_object
    UNION ALL SELECT * FROM sequence_object
    UNION ALL SELECT * FROM constraint_object
    UNION ALL SELECT * FROM index_object
    UNION ALL SELECT * FROM trigger_object
    UNION ALL SELECT * FROM routine_object
    UNION ALL SELECT * FROM type_object
)
SELECT o.object, coalesce(o.belongs, '') AS belongs, coalesce(o.copy_of, '') AS copy_of, o.summary,
       quote_ident(pg_get_userbyid(o.owner)) AS owner,
       jsonb_strip_nulls(
           o.facts
           || jsonb_build_object(
               'owner', CASE WHEN NOT o.is_ours THEN NULL WHEN o.owner = u.owner THEN 'that of the cs9 routines' ELSE quote_ident(pg_get_userbyid(o.owner)) END,
               'comment', (SELECT d.description FROM pg_description AS d WHERE d.classoid = o.class AND d.objoid = o.oid AND d.objsubid = o.sub))
           || coalesce(g.grants, '{}')) AS facts
FROM all_objects AS o
CROSS JOIN usual AS u
LEFT JOIN LATERAL (
    -- of a schema that may be anybody's, what its owner and everybody may do is not ours to say
    SELECT jsonb_object_agg(format('grant %s to %s', e.privilege_type, e.grantee), CASE WHEN e.is_grantable THEN 'WITH GRANT OPTION' ELSE 'granted' END) AS grants
    FROM (
        -- several may have granted it
        SELECT x.privilege_type, bool_or(x.is_grantable) AS is_grantable,
               CASE x.grantee WHEN 0 THEN 'PUBLIC' WHEN o.owner THEN 'its owner' ELSE quote_ident(pg_get_userbyid(x.grantee)) END AS grantee
        FROM aclexplode(o.acl) AS x
        WHERE o.is_ours OR o.class <> 'pg_namespace'::regclass OR x.grantee NOT IN (0, o.owner)
        GROUP BY x.privilege_type, x.grantee
    ) AS e
) AS g ON true
