-- Purpose: a table as FROM takes it when its rows are meant as a foreign key means them: those of its partitions belong to
--          it, those of tables that merely inherit from it do not.
CREATE FUNCTION cs9.own_rows(p_relation regclass)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $own_rows$
#variable_conflict error
BEGIN
    RETURN (SELECT CASE c.relkind WHEN 'p' THEN p_relation::text ELSE format('ONLY %s', p_relation) END FROM pg_catalog.pg_class AS c WHERE c.oid = p_relation);
END;
$own_rows$;
COMMENT ON FUNCTION cs9.own_rows(regclass) IS 'The table as FROM takes it, without what merely inherits from it';
