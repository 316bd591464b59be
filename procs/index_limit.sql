-- Purpose: up to which size an index takes a row for certain, and whether its size is all that matters.
-- How:     the access methods of PostgreSQL put an entry on one page, or three of them: a hash index stores a number, GIN the
--          parts of a value (of jsonb and tsvector they are short by themselves), a BRIN entry two values.
-- Returns:
--   bytes    what is surely taken, the parts of a row added up; null when the size does not matter
--   whole    values count as they are without compression: parts of them are stored
--   doubtful a function of an operator class is not PostgreSQL's own and not written in C, so that it may raise for any value;
--            or the access method is not PostgreSQL's own
CREATE FUNCTION cs9.index_limit(p_index regclass, OUT bytes integer, OUT whole boolean, OUT doubtful boolean)
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $index_limit$
#variable_conflict error
DECLARE
    v_method name;
    v_page   CONSTANT integer := current_setting('block_size')::integer;
BEGIN
    SELECT m.amname,
           m.oid >= 16384 OR EXISTS (
               SELECT
               FROM unnest(i.indclass::oid[]) AS u (opclass)
               JOIN pg_catalog.pg_opclass AS o ON o.oid = u.opclass
               JOIN (
                   SELECT f.amprocfamily AS family, f.amproc::oid AS routine FROM pg_catalog.pg_amproc AS f
                   UNION ALL
                   SELECT f.amopfamily, r.oprcode FROM pg_catalog.pg_amop AS f JOIN pg_catalog.pg_operator AS r ON r.oid = f.amopopr
               ) AS s ON s.family = o.opcfamily
               JOIN pg_catalog.pg_proc AS p ON p.oid = s.routine
               JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
               WHERE l.lanname NOT IN ('internal', 'c'))
    INTO STRICT v_method, index_limit.doubtful
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_am AS m ON m.oid = c.relam
    WHERE i.indexrelid = p_index;

    whole := v_method NOT IN ('btree', 'hash');
    bytes := CASE
        WHEN v_method = 'hash' THEN NULL
        WHEN v_method = 'btree' THEN v_page / 3 - 130
        WHEN v_method = 'gin' AND NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_index AS i
            CROSS JOIN LATERAL unnest(i.indclass::oid[]) AS u (opclass)
            JOIN pg_catalog.pg_opclass AS o ON o.oid = u.opclass
            WHERE i.indexrelid = p_index AND (o.oid >= 16384 OR o.opcname NOT IN ('jsonb_ops', 'jsonb_path_ops', 'tsvector_ops'))) THEN NULL
        WHEN v_method IN ('gin', 'brin') THEN v_page / 5
        ELSE v_page / 4
    END;
END;
$index_limit$;
COMMENT ON FUNCTION cs9.index_limit(regclass) IS 'Up to which size an index takes a row for certain';
