-- Purpose: give a new table what people and migrations gave to the one it replaces: owner, grants on it and on its
--          columns, comments, and where its identity columns go on.
-- Contract: the old table keeps none of the grants and comments, and its columns are no identity any more. What the new
--           table has already stays.
CREATE FUNCTION cs9.carry_over(p_old regclass, p_new regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $carry_over$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        SELECT format('COMMENT ON TABLE %s IS %L', p_new, obj_description(p_old, 'pg_class'))
        WHERE obj_description(p_new, 'pg_class') IS NULL
        UNION ALL
        SELECT format('COMMENT ON TABLE %s IS NULL', p_old)
        UNION ALL
        SELECT format('COMMENT ON COLUMN %s.%I IS %L', x.relation, a.attname, x.text)
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_attribute AS b ON b.attrelid = p_new AND b.attname = a.attname
        CROSS JOIN LATERAL (
            VALUES (p_new, coalesce(col_description(b.attrelid, b.attnum), col_description(a.attrelid, a.attnum))), (p_old, NULL)
        ) AS x (relation, text)
        WHERE a.attrelid = p_old AND a.attnum > 0 AND NOT a.attisdropped AND col_description(a.attrelid, a.attnum) IS NOT NULL
    LOOP
        EXECUTE v_command;
    END LOOP;
    PERFORM cs9.carry_grants(p_old, p_new);
    PERFORM cs9.carry_sequences(p_old, p_new);
    FOR v_command IN
        SELECT format('ALTER TABLE %s OWNER TO %I', p_new, pg_get_userbyid(o.relowner))
        FROM pg_catalog.pg_class AS o
        JOIN pg_catalog.pg_class AS n ON n.oid = p_new
        WHERE o.oid = p_old AND o.relowner <> n.relowner
    LOOP
        EXECUTE v_command;
    END LOOP;
END;
$carry_over$;
COMMENT ON FUNCTION cs9.carry_over(regclass, regclass) IS 'Gives a table the owner, grants, comments and sequences of the one it replaces';
