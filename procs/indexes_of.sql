-- Purpose: the indexes of a table and of partitions of it, of whatever kind; not those that a partition has from its table,
--          which say the same.
-- Returns: relation, where the index is; bound, which rows go there, null for all; predicate, which of them are indexed, null
--          for all; calls, the routines of users that it evaluates.
CREATE FUNCTION cs9.indexes_of(p_relations oid[])
RETURNS TABLE (index regclass, relation regclass, bound text, predicate text, calls text)
LANGUAGE plpgsql
STABLE
ROWS 8
SET search_path = pg_catalog, pg_temp
AS $indexes_of$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT c.oid::regclass, i.indrelid::regclass, pg_get_partition_constraintdef(i.indrelid), pg_get_expr(i.indpred, i.indrelid),
           cs9.called_routines(concat(i.indexprs, i.indpred))
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid = ANY (p_relations)
      AND NOT c.relispartition
      AND (i.indisready OR c.relkind = 'I')
    ORDER BY c.relname COLLATE "C", c.oid;
END;
$indexes_of$;
COMMENT ON FUNCTION cs9.indexes_of(oid[]) IS 'The indexes of a table and of partitions of it';
