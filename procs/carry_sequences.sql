-- Purpose: let the identity columns of a table go on where those of the table that it replaces are: same next value,
--          same options, same grants.
-- Contract: the columns of p_old are no identity any more.
CREATE FUNCTION cs9.carry_sequences(p_old regclass, p_new regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $carry_sequences$
#variable_conflict error
DECLARE
    v_column record;
BEGIN
    FOR v_column IN
        SELECT a.attname, f.old, t.new, s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache, s.seqcycle
        FROM pg_catalog.pg_attribute AS a
        CROSS JOIN LATERAL (SELECT pg_get_serial_sequence(p_old::text, a.attname)::regclass AS old) AS f
        CROSS JOIN LATERAL (SELECT pg_get_serial_sequence(p_new::text, a.attname)::regclass AS new) AS t
        JOIN pg_catalog.pg_sequence AS s ON s.seqrelid = f.old
        WHERE a.attrelid = p_old AND a.attidentity <> '' AND NOT a.attisdropped
        ORDER BY a.attnum
    LOOP
        EXECUTE format('ALTER SEQUENCE %s INCREMENT %s MINVALUE %s MAXVALUE %s START %s CACHE %s %s', v_column.new, v_column.seqincrement,
                       v_column.seqmin, v_column.seqmax, v_column.seqstart, v_column.seqcache, CASE WHEN v_column.seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END);
        EXECUTE format('SELECT setval(%L, cs9_s.last_value, cs9_s.is_called) FROM %s AS cs9_s', v_column.new, v_column.old);
        PERFORM cs9.carry_grants(v_column.old, v_column.new);
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', p_old, v_column.attname);
    END LOOP;
END;
$carry_sequences$;
COMMENT ON FUNCTION cs9.carry_sequences(regclass, regclass) IS 'Lets identity columns go on where those of the replaced table are';
