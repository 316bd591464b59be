-- Purpose: the one partition of a table that was swapped becomes the table itself. No row is copied.
-- Locks:   both, ACCESS EXCLUSIVE; changes of the catalogue only. The caller bounds the wait.
-- Errors:  S9021 when something is tied to the table, or it has other partitions.
CREATE FUNCTION cs9.join_partition(p_schema name, p_table name, p_part name)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $join_partition$
#variable_conflict error
DECLARE
    v_parent CONSTANT regclass := format('%I.%I', p_schema, p_table)::regclass;
    v_part   CONSTANT regclass := format('%I.%I', p_schema, p_part)::regclass;
    v_commands text[];
    v_command  text;
BEGIN
    PERFORM cs9.set_aside(p_schema, p_table);
    IF ARRAY[v_part::oid] <> ARRAY (SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = v_parent ORDER BY h.inhrelid) THEN
        RAISE EXCEPTION '%.% has partitions that its definition does not know', quote_ident(p_schema), quote_ident(p_table)
            USING ERRCODE = 'S9021',
                  DETAIL = format('Its definition gives it one, %I.', p_part),
                  HINT = 'Move their rows into that one and drop them; then migrate again.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
    SELECT array_agg(format('ALTER INDEX %I.%I RENAME TO %I', p_schema, c.relname, o.relname) ORDER BY o.relname COLLATE "C")
    INTO v_commands
    FROM pg_catalog.pg_index AS i
    JOIN pg_catalog.pg_inherits AS h ON h.inhrelid = i.indexrelid
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_class AS o ON o.oid = h.inhparent
    WHERE i.indrelid = v_part;
    v_commands := v_commands || ARRAY (
        SELECT format('ALTER TABLE %I.%I ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %I.%I)', p_schema, p_table, a.attname,
                      CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, p_schema, s.relname)
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS s ON s.oid = pg_get_serial_sequence(v_parent::text, a.attname)::regclass
        WHERE a.attrelid = v_parent AND a.attidentity <> '' AND NOT a.attisdropped
        ORDER BY a.attnum);

    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', v_parent, v_part);
    EXECUTE format('ALTER TABLE %s RENAME TO %I', v_part, p_table);
    FOREACH v_command IN ARRAY v_commands LOOP
        EXECUTE v_command;
    END LOOP;
    PERFORM cs9.carry_over(v_parent, format('%I.%I', p_schema, p_table)::regclass);
    PERFORM cs9.own_sequences(format('%I.%I', p_schema, p_table)::regclass);
    EXECUTE format('DROP TABLE %s', v_parent);
END;
$join_partition$;
COMMENT ON FUNCTION cs9.join_partition(name, name, name) IS 'Makes the one partition of a swapped table the table itself';
