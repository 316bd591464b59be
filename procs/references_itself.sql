-- Purpose: whether rows of a table may reference others of it, in the same partition or in another, so that they must be
--          deleted together.
CREATE FUNCTION cs9.references_itself(p_table_id integer)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $references_itself$
#variable_conflict error
BEGIN
    RETURN EXISTS (SELECT FROM cs9.foreign_keys(p_table_id) AS k WHERE k.goes_out AND k.comes_in);
END;
$references_itself$;
COMMENT ON FUNCTION cs9.references_itself(integer) IS 'Whether a foreign key of the table references the table itself';
