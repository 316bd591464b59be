-- Purpose: the relations that a live table is made of: itself, and its partitions on every level.
CREATE FUNCTION cs9.table_relations(p_table_id integer)
RETURNS SETOF regclass
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $table_relations$
#variable_conflict error
DECLARE
    v_live CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
BEGIN
    RETURN QUERY
    SELECT c.oid::regclass
    FROM pg_catalog.pg_class AS c
    WHERE c.oid = v_live OR c.oid IN (SELECT t.relid FROM pg_partition_tree(v_live) AS t)
    ORDER BY c.relname COLLATE "C";
END;
$table_relations$;
COMMENT ON FUNCTION cs9.table_relations(integer) IS 'The table itself and its partitions on every level';
