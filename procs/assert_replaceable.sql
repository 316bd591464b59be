-- Purpose: a table is about to hand its name to another relation. What PostgreSQL has tied to the relation itself would
--          stay with the old one, or hold it back: refuse, and list it.
-- Errors:  S9021.
CREATE FUNCTION cs9.assert_replaceable(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $assert_replaceable$
#variable_conflict error
DECLARE
    v_tied text;
BEGIN
    SELECT string_agg(o.what, ', ' ORDER BY o.n, o.what COLLATE "C") INTO v_tied
    FROM (
        -- a view depends by its rule; deptype i is the rule of the view itself
        SELECT DISTINCT 1 AS n, format('%s %s', CASE c.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, c.oid::regclass) AS what
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_rewrite AS w ON d.classid = 'pg_rewrite'::regclass AND w.oid = d.objid
        JOIN pg_catalog.pg_class AS c ON c.oid = w.ev_class
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = p_table AND c.oid <> p_table
        UNION ALL
        SELECT 2, format('foreign key %I of %s', f.conname, f.conrelid::regclass)
        FROM pg_catalog.pg_constraint AS f
        WHERE f.contype = 'f' AND p_table IN (f.conrelid, f.confrelid) AND f.conparentid = 0
        UNION ALL
        SELECT 3, format('policy %I', p.polname)
        FROM pg_catalog.pg_policy AS p
        WHERE p.polrelid = p_table
        UNION ALL
        SELECT 4, 'row-level security'
        FROM pg_catalog.pg_class AS c
        WHERE c.oid = p_table AND c.relrowsecurity AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS p WHERE p.polrelid = p_table)
        UNION ALL
        SELECT 5, format('trigger %I', t.tgname)
        FROM pg_catalog.pg_trigger AS t
        WHERE t.tgrelid = p_table AND NOT t.tgisinternal
        UNION ALL
        SELECT 6, format('rule %I', w.rulename)
        FROM pg_catalog.pg_rewrite AS w
        WHERE w.ev_class = p_table
        UNION ALL
        SELECT 7, format('publication %I', p.pubname)
        FROM pg_catalog.pg_publication_rel AS r
        JOIN pg_catalog.pg_publication AS p ON p.oid = r.prpubid
        WHERE r.prrelid = p_table
        UNION ALL
        SELECT 8, format('statistics object %I', s.stxname)
        FROM pg_catalog.pg_statistic_ext AS s
        WHERE s.stxrelid = p_table
        UNION ALL
        SELECT DISTINCT 9, format('child table %s', h.inhrelid::regclass)
        FROM pg_catalog.pg_inherits AS h
        JOIN pg_catalog.pg_class AS c ON c.oid = h.inhparent AND c.relkind = 'r'
        WHERE h.inhparent = p_table
        UNION ALL
        -- functions whose body is SQL that was parsed, and what uses the type of its rows
        SELECT DISTINCT 10, pg_describe_object(d.classid, d.objid, d.objsubid)
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_class AS c ON c.oid = p_table
        LEFT JOIN pg_catalog.pg_type AS y ON y.oid = c.reltype
        WHERE (d.refclassid = 'pg_class'::regclass AND d.refobjid = p_table AND d.classid = 'pg_proc'::regclass
               OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray))
          AND d.deptype = 'n'
    ) AS o;
    IF v_tied IS NOT NULL THEN
        RAISE EXCEPTION '% cannot be replaced by another relation of its name: % would stay with the old one', p_table, v_tied
            USING ERRCODE = 'S9021',
                  DETAIL = 'A change of the publish mode to or from swap puts the rows into a partition of a new table, or takes them out, without copying them. Nothing was changed.',
                  HINT = 'Drop what is listed, migrate, and create it again.',
                  SCHEMA = (SELECT n.nspname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = p_table),
                  TABLE = (SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.oid = p_table);
    END IF;
END;
$assert_replaceable$;
COMMENT ON FUNCTION cs9.assert_replaceable(regclass) IS 'Refuses to replace a table that views, foreign keys and the like are tied to';
