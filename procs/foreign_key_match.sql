-- Purpose: the join condition of a foreign key between the referencing row cs9_c and the referenced row cs9_p, with the
--          operators and, where the two columns differ in it, the collation that the key itself uses.
CREATE FUNCTION cs9.foreign_key_match(p_constraint oid)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $foreign_key_match$
#variable_conflict error
BEGIN
    RETURN (
        SELECT string_agg(format('cs9_p.%I%s OPERATOR(%I.%s) cs9_c.%I%s%s', pa.attname, cs9.base_cast(pa.atttypid), n.nspname, o.oprname, ca.attname, cs9.base_cast(ca.atttypid),
                                 CASE WHEN pa.attcollation <> ca.attcollation AND y.oid IS NOT NULL THEN format(' COLLATE %I.%I', l.nspname, y.collname) END),
                          ' AND ' ORDER BY k.n)
        FROM pg_catalog.pg_constraint AS f
        CROSS JOIN LATERAL generate_subscripts(f.conkey, 1) AS k (n)
        JOIN pg_catalog.pg_attribute AS ca ON ca.attrelid = f.conrelid AND ca.attnum = f.conkey[k.n]
        JOIN pg_catalog.pg_attribute AS pa ON pa.attrelid = f.confrelid AND pa.attnum = f.confkey[k.n]
        JOIN pg_catalog.pg_operator AS o ON o.oid = f.conpfeqop[k.n]
        JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
        LEFT JOIN pg_catalog.pg_collation AS y ON y.oid = pa.attcollation AND ca.attcollation <> 0
        LEFT JOIN pg_catalog.pg_namespace AS l ON l.oid = y.collnamespace
        WHERE f.oid = p_constraint
    );
END;
$foreign_key_match$;
COMMENT ON FUNCTION cs9.foreign_key_match(oid) IS 'Join condition of a foreign key, referencing row cs9_c and referenced row cs9_p';
