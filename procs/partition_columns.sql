-- Purpose: the columns by which a table is split, on all levels.
-- Returns: null where one level is split by an expression.
CREATE FUNCTION cs9.partition_columns(p_table regclass)
RETURNS name[]
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $partition_columns$
#variable_conflict error
BEGIN
    RETURN (
        WITH RECURSIVE tree AS (
            SELECT p.partrelid, p.partattrs
            FROM pg_catalog.pg_partitioned_table AS p
            WHERE p.partrelid = p_table
            UNION ALL
            SELECT p.partrelid, p.partattrs
            FROM tree AS t
            JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.partrelid
            JOIN pg_catalog.pg_partitioned_table AS p ON p.partrelid = i.inhrelid
        )
        SELECT CASE WHEN bool_and(k.attnum > 0) THEN array_agg(DISTINCT n.name) END
        FROM tree AS t
        CROSS JOIN LATERAL unnest(t.partattrs::smallint[]) AS k (attnum)
        CROSS JOIN LATERAL (SELECT (SELECT a.attname FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = t.partrelid AND a.attnum = k.attnum) AS name) AS n
    );
END;
$partition_columns$;
COMMENT ON FUNCTION cs9.partition_columns(regclass) IS 'The columns by which a table is split, on all levels';
