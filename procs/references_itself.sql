-- Purpose: whether rows of a table may reference others of it, in the same partition or in another, so that they must be
--          deleted together.
CREATE FUNCTION cs9.references_itself(p_table_id integer)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $references_itself$
#variable_conflict error
DECLARE
    v_tree CONSTANT oid[] := ARRAY (SELECT r::oid FROM cs9.with_partitions(to_regclass(cs9.table_label(p_table_id))) AS r);
BEGIN
    RETURN EXISTS (
        SELECT
        FROM pg_catalog.pg_constraint AS f
        WHERE f.contype = 'f' AND f.conrelid = ANY (v_tree) AND f.confrelid = ANY (v_tree)
    );
END;
$references_itself$;
COMMENT ON FUNCTION cs9.references_itself(integer) IS 'Whether a foreign key of the table references the table itself';
