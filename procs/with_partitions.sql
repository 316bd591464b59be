-- Purpose: the relations that a table is made of: itself, and its partitions on every level. Nothing where there is no table.
CREATE FUNCTION cs9.with_partitions(p_relation regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql
STABLE
ROWS 30
SET search_path = pg_catalog, pg_temp
AS $with_partitions$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT t.relation
    FROM cs9.partition_tree(p_relation) AS t
    ORDER BY t.level, t.relation;
END;
$with_partitions$;
COMMENT ON FUNCTION cs9.with_partitions(regclass) IS 'The table itself and its partitions on every level';
