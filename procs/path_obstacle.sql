-- Purpose: why the search_path of a table's definition cannot be used. What stands in its schemas runs with the rights of
--          the publish, so that nobody else may create anything there.
-- Returns: null when nothing stands against it.
CREATE FUNCTION cs9.path_obstacle(p_path name[])
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $path_obstacle$
#variable_conflict error
BEGIN
    RETURN (
        WITH trusted AS (
            SELECT c.relowner AS role FROM pg_catalog.pg_class AS c WHERE c.oid = 'cs9.run'::regclass
            UNION
            SELECT a.oid FROM pg_catalog.pg_roles AS a WHERE a.rolsuper
        )
        SELECT o.what
        FROM unnest(p_path) WITH ORDINALITY AS s (name, n)
        LEFT JOIN pg_catalog.pg_namespace AS c ON c.nspname = s.name
        CROSS JOIN LATERAL (
            SELECT format('schema %I is not there', s.name) AS what WHERE c.oid IS NULL
            UNION ALL
            SELECT format('schema %I is PostgreSQL''s own', s.name) WHERE starts_with(s.name, 'pg_') AND s.name <> 'pg_catalog' OR s.name = 'information_schema'
            UNION ALL
            -- the predefined role has one member, which owns the database
            SELECT format('role %I owns schema %I', g.grantee::regrole, s.name)
            FROM (SELECT CASE WHEN c.nspowner::regrole::text = 'pg_database_owner' THEN d.datdba ELSE c.nspowner END AS grantee
                  FROM pg_catalog.pg_database AS d WHERE d.datname = current_database()) AS g
            WHERE c.oid IS NOT NULL AND g.grantee NOT IN (SELECT t.role FROM trusted AS t)
            UNION ALL
            SELECT format('%s may create in schema %I', CASE g.grantee WHEN 0 THEN 'everybody' ELSE format('role %I', g.grantee::regrole) END, s.name)
            FROM aclexplode(c.nspacl) AS g
            WHERE g.privilege_type = 'CREATE' AND g.grantee <> c.nspowner AND g.grantee NOT IN (SELECT t.role FROM trusted AS t)
        ) AS o
        ORDER BY s.n
        LIMIT 1
    );
END;
$path_obstacle$;
COMMENT ON FUNCTION cs9.path_obstacle(name[]) IS 'Why the search_path of a definition cannot be used, or null';
