-- Purpose: what the generated columns of a table call that neither a superuser nor the owner of the cs9 schema owns.
-- Returns: the routine, null when there is none. PostgreSQL's own routines are not recorded as dependencies.
CREATE FUNCTION cs9.untrusted_call(p_table text)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $untrusted_call$
#variable_conflict error
BEGIN
    RETURN (
        SELECT p.oid::regprocedure::text
        FROM pg_catalog.pg_depend AS d
        LEFT JOIN pg_catalog.pg_operator AS o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
        JOIN pg_catalog.pg_proc AS p ON p.oid = o.oprcode OR (d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid)
        JOIN pg_catalog.pg_roles AS r ON r.oid = p.proowner
        -- the column's own dependencies up to PostgreSQL 14, those of its expression since
        WHERE (d.classid = 'pg_class'::regclass AND d.objid = to_regclass(p_table)
               OR d.classid = 'pg_attrdef'::regclass AND d.objid IN (SELECT a.oid FROM pg_catalog.pg_attrdef AS a WHERE a.adrelid = to_regclass(p_table)))
          AND NOT r.rolsuper
          AND p.proowner <> (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = 'cs9.run'::regclass)
        LIMIT 1
    );
END;
$untrusted_call$;
COMMENT ON FUNCTION cs9.untrusted_call(text) IS 'A routine that a generated column calls and that another role could change, or null';
