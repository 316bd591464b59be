-- Purpose: the name of a tablespace, by what the catalogue says of a relation: 0 is that of the database.
CREATE FUNCTION cs9.tablespace_name(p_tablespace oid)
RETURNS name
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $tablespace_name$
#variable_conflict error
BEGIN
    RETURN (
        SELECT t.spcname
        FROM pg_catalog.pg_tablespace AS t
        WHERE t.oid = coalesce(nullif(p_tablespace, 0), (SELECT d.dattablespace FROM pg_catalog.pg_database AS d WHERE d.datname = current_database()))
    );
END;
$tablespace_name$;
COMMENT ON FUNCTION cs9.tablespace_name(oid) IS 'Name of a tablespace; 0 is that of the database';
