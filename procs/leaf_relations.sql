-- Purpose: the relations that hold the rows of a table: itself, or the leaves of its partition tree.
CREATE FUNCTION cs9.leaf_relations(p_table_id integer)
RETURNS SETOF regclass
LANGUAGE plpgsql
STABLE
ROWS 30
SET search_path = pg_catalog, pg_temp
AS $leaf_relations$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT c.oid::regclass
    FROM cs9.partition_tree(to_regclass(cs9.table_label(p_table_id))) AS t
    JOIN pg_catalog.pg_class AS c ON c.oid = t.relation
    WHERE t.is_leaf
    ORDER BY c.relname COLLATE "C";
END;
$leaf_relations$;
COMMENT ON FUNCTION cs9.leaf_relations(integer) IS 'The table itself, or its leaf partitions';
