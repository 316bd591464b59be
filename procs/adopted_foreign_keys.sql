-- Purpose: which foreign keys of a definition a table lacks, or has otherwise. They are compared as text: a model with
--          foreign keys would lock the tables that they reference.
-- Contract: p_keys holds what comes after CONSTRAINT, by the constraint's name. Without a list of referenced columns the
--           referenced primary key is meant.
CREATE FUNCTION cs9.adopted_foreign_keys(p_live regclass, p_keys jsonb)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $adopted_foreign_keys$
#variable_conflict error
BEGIN
    RETURN QUERY
    WITH own AS (
        SELECT f.conname, f.convalidated, i.indisprimary,
               format('FOREIGN KEY (%s) REFERENCES %I.%I', k.names, n.nspname, r.relname) AS head,
               format(' (%s)', k.referenced) AS referenced,
               concat_ws('', CASE f.confmatchtype WHEN 'f' THEN ' MATCH FULL' END,
                         ' ON DELETE ' || CASE f.confdeltype WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END,
                         ' ON UPDATE ' || CASE f.confupdtype WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END,
                         CASE WHEN f.condeferrable THEN ' DEFERRABLE' END, CASE WHEN f.condeferred THEN ' INITIALLY DEFERRED' END) AS tail
        FROM pg_catalog.pg_constraint AS f
        JOIN pg_catalog.pg_class AS r ON r.oid = f.confrelid
        JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace
        LEFT JOIN pg_catalog.pg_index AS i ON i.indexrelid = f.conindid
        CROSS JOIN LATERAL (
            SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY s.n) AS names, string_agg(quote_ident(b.attname), ', ' ORDER BY s.n) AS referenced
            FROM generate_subscripts(f.conkey, 1) AS s (n)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[s.n]
            JOIN pg_catalog.pg_attribute AS b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[s.n]
        ) AS k
        WHERE f.conrelid = p_live AND f.contype = 'f'
    ), compared AS (
        SELECT e.key, e.value, l.*,
               -- what needs quotes depends on the server's version
               replace(regexp_replace(e.value, '[[:space:]]+', ' ', 'g'), '"', '') IN (
                   replace(regexp_replace(l.head || l.referenced || l.tail, '[[:space:]]+', ' ', 'g'), '"', ''),
                   replace(regexp_replace(CASE WHEN l.indisprimary THEN l.head || l.tail END, '[[:space:]]+', ' ', 'g'), '"', '')) AS fits
        FROM jsonb_each_text(p_keys) AS e
        LEFT JOIN own AS l ON l.conname = e.key
    )
    SELECT CASE
               WHEN c.conname IS NULL THEN format('foreign key %I is not there: %s', c.key, c.value)
               WHEN NOT c.convalidated THEN format('foreign key %I is NOT VALID: validate it', c.key)
               ELSE format('foreign key %I: %s in the database, %s in the definition', c.key, c.head || c.referenced || c.tail, c.value)
           END
    FROM compared AS c
    WHERE c.conname IS NULL OR NOT c.convalidated OR c.fits IS NOT TRUE
    ORDER BY c.key COLLATE "C";
END;
$adopted_foreign_keys$;
COMMENT ON FUNCTION cs9.adopted_foreign_keys(regclass, jsonb) IS 'Which foreign keys of a definition a table lacks, or has otherwise';
