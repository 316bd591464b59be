-- Purpose: the search_path with which a condition on a table is read: PostgreSQL's names first, then the schemas that the
--          table's definition names, then those of the types of its columns. Without these a comparison of citext would be one
--          of texts, in silence.
CREATE FUNCTION cs9.condition_path(p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $condition_path$
#variable_conflict error
BEGIN
    RETURN (
        SELECT concat_ws(', ', 'pg_catalog', nullif(cs9.table_path(p_table_id), 'pg_catalog, pg_temp'),
                         string_agg(DISTINCT quote_ident(n.nspname), ', '), 'pg_temp')
        FROM cs9.table_definition AS d
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = to_regclass(format('%I.%I', d.schema_name, d.staging_name)) AND a.attnum > 0 AND NOT a.attisdropped
        CROSS JOIN LATERAL (
            WITH RECURSIVE base AS (
                SELECT t.typnamespace, t.typbasetype, t.typelem FROM pg_catalog.pg_type AS t WHERE t.oid = a.atttypid
                UNION
                SELECT t.typnamespace, t.typbasetype, t.typelem FROM base AS b JOIN pg_catalog.pg_type AS t ON t.oid IN (b.typbasetype, b.typelem)
            )
            SELECT b.typnamespace FROM base AS b
        ) AS t
        JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace AND n.nspname <> 'pg_catalog'
        WHERE d.table_id = p_table_id
    );
END;
$condition_path$;
COMMENT ON FUNCTION cs9.condition_path(integer) IS 'The search_path with which a condition on a table is read';
