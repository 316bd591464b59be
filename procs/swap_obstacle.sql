-- Purpose: why what a run staged for a table cannot take the place of its partitions.
-- Returns: null when nothing stands against it.
CREATE FUNCTION cs9.swap_obstacle(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $swap_obstacle$
#variable_conflict error
DECLARE
    v_live     CONSTANT regclass := to_regclass(cs9.table_label(p_table_id));
    v_split    CONSTANT regclass := cs9.split_of(p_run_id, p_table_id);
    v_pair     record;
    v_locks    integer := 0;
    v_obstacle text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_partitioned_table AS p WHERE p.partrelid = v_live) THEN
        RETURN format('%s has no partition to swap', v_live);
    END IF;

    SELECT format('the foreign key %I of %s', k.key_name, k.referencing) INTO v_obstacle
    FROM cs9.foreign_keys(p_table_id) AS k
    LIMIT 1;
    IF v_obstacle IS NOT NULL THEN
        RETURN format('%s would have to be checked row by row during the switch', v_obstacle);
    END IF;

    SELECT format('its primary key is not (%s)', (SELECT string_agg(format('%I', k.name), ', ' ORDER BY k.ordinality)
                                                  FROM unnest(d.keys) WITH ORDINALITY AS k (name, ordinality)))
    INTO v_obstacle
    FROM cs9.table_definition AS d
    WHERE d.table_id = p_table_id
      AND NOT EXISTS (
          SELECT
          FROM pg_catalog.pg_index AS i
          WHERE i.indrelid = v_live AND i.indisprimary AND i.indnatts = cardinality(d.keys)
            AND d.keys = ARRAY (
                SELECT a.attname
                FROM generate_subscripts(i.indkey, 1) AS s (n)
                JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[s.n]
                ORDER BY s.n));
    IF v_obstacle IS NOT NULL THEN
        RETURN v_obstacle;
    END IF;

    FOR v_pair IN SELECT p.* FROM cs9.swap_pairs(p_run_id, p_table_id) AS p LOOP
        IF v_pair.survives THEN
            RETURN format('rows of %s stay, which the run does not delete', v_pair.leaf);
        ELSIF v_pair.takes AND v_pair.staged IS NULL AND v_split IS NOT NULL THEN
            RETURN format('%s was not there when the rows were staged', v_pair.leaf);
        END IF;
        v_obstacle := cs9.partition_obstacle(v_pair.leaf);
        IF v_obstacle IS NOT NULL THEN
            RETURN v_obstacle;
        END IF;
        -- both tables, what is too long for their rows, and their indexes
        v_locks := v_locks + 6 + 2 * (SELECT count(*) FROM pg_catalog.pg_index AS i WHERE i.indrelid = v_pair.leaf)::integer;
    END LOOP;
    IF v_locks > cs9.room_for_locks() THEN
        RETURN format('a switch of all the partitions that the run touches needs %s locks, and the server has room for %s (max_locks_per_transaction)',
                      v_locks, cs9.room_for_locks());
    END IF;
    v_obstacle := cs9.swap_reads(p_run_id, p_table_id)::text;
    IF v_obstacle IS NOT NULL THEN
        RETURN format('the default partition %s, which stays, would be read during the switch', v_obstacle);
    END IF;
    RETURN NULL;
END;
$swap_obstacle$;
COMMENT ON FUNCTION cs9.swap_obstacle(bigint, integer) IS 'Why what a run staged cannot take the place of a table''s partitions, or null';
