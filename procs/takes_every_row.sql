-- Purpose: whether each row has a partition to go to, whatever its values are: there is a default partition, or one for
--          each remainder of a hash; and so it is with the partitions that are split again.
CREATE FUNCTION cs9.takes_every_row(p_table regclass)
RETURNS boolean
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $takes_every_row$
#variable_conflict error
BEGIN
    RETURN coalesce((
        -- each modulus divides the largest one: PostgreSQL sees to that
        SELECT (p.partdefid <> 0 OR p.partstrat = 'h' AND sum(h.largest / h.modulus) = max(h.largest))
               AND bool_and(CASE h.relkind WHEN 'p' THEN cs9.takes_every_row(h.relation) ELSE true END)
        FROM pg_catalog.pg_partitioned_table AS p
        CROSS JOIN LATERAL (
            SELECT c.oid::regclass AS relation, c.relkind, m.modulus, max(m.modulus) OVER () AS largest
            FROM pg_catalog.pg_inherits AS i
            JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
            CROSS JOIN LATERAL (SELECT CASE p.partstrat WHEN 'h' THEN substring(pg_get_expr(c.relpartbound, c.oid) FROM 'modulus ([0-9]+)')::bigint END AS modulus) AS m
            WHERE i.inhparent = p.partrelid AND NOT i.inhdetachpending
        ) AS h
        WHERE p.partrelid = p_table AND (p.partdefid <> 0 OR p.partstrat = 'h')
        GROUP BY p.partdefid, p.partstrat
    ), NOT EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS p WHERE p.partrelid = p_table));
END;
$takes_every_row$;
COMMENT ON FUNCTION cs9.takes_every_row(regclass) IS 'Whether each row has a partition to go to, whatever its values are';
