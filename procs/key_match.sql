-- Purpose: the join condition on the primary key of a table, between two rows called by their aliases. The operators are
--          those of the key's own operator class: citext must compare as citext, wherever it is installed.
CREATE FUNCTION cs9.key_match(p_live regclass, p_left text, p_right text)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $key_match$
#variable_conflict error
BEGIN
    RETURN (
        SELECT string_agg(format('%1$I.%3$I%6$s OPERATOR(%4$I.%5$s) %2$I.%3$I%6$s', p_left, p_right, a.attname, n.nspname, o.oprname, cs9.base_cast(a.atttypid)),
                          ' AND ' ORDER BY k.n)
        FROM pg_catalog.pg_index AS i
        CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS k (n)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.n - 1]
        JOIN pg_catalog.pg_opclass AS c ON c.oid = i.indclass[k.n - 1]
        JOIN pg_catalog.pg_amop AS m
            ON m.amopfamily = c.opcfamily AND m.amopstrategy = 3
           AND m.amoplefttype = c.opcintype AND m.amoprighttype = c.opcintype
        JOIN pg_catalog.pg_operator AS o ON o.oid = m.amopopr
        JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
        WHERE i.indrelid = p_live AND i.indisprimary
    );
END;
$key_match$;
COMMENT ON FUNCTION cs9.key_match(regclass, text, text) IS 'Join condition on the primary key of a table';
