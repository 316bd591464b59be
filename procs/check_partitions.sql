-- Purpose: every staged row must have a partition to go to, on each level. A table that is a partition itself takes its own rows only.
-- How:     PostgreSQL itself says what a leaf takes; its parents' bounds are part of that. Only leaves that may take one of the
--          staged values are asked; where they are many, once for each combination of the values that matter, not once a row.
-- Errors:  S9013 names the first row that has none.
CREATE FUNCTION cs9.check_partitions(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_partitions$
#variable_conflict error
DECLARE
    c_many    CONSTANT integer := 8;
    v_staged  text     := cs9.staged_label(p_run_id, p_table_id);
    v_live    regclass := to_regclass(cs9.table_label(p_table_id));
    v_bounds  text;
    v_leaves  integer;
    v_columns text;
    v_rows    text;
    v_found   boolean;
    v_row     text;
BEGIN
    IF v_staged IS NULL OR cs9.takes_every_row(v_live) AND pg_get_partition_constraintdef(v_live) IS NULL THEN
        RETURN;
    END IF;
    SELECT string_agg(format('(%s)', coalesce(pg_get_partition_constraintdef(leaf::oid), 'true')), ' OR '), count(*) INTO v_bounds, v_leaves
    FROM cs9.run_table AS t
    CROSS JOIN LATERAL cs9.leaves_where(p_table_id, coalesce(t.staged_values, 'true')) AS leaf
    WHERE t.run_id = p_run_id AND t.table_id = p_table_id;

    IF v_leaves > c_many THEN
        -- null where a table is split by an expression
        v_columns := (SELECT string_agg(format('%I', c.name), ', ') FROM unnest(cs9.partition_columns(v_live)) AS c (name));
    END IF;
    IF v_columns IS NOT NULL THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM (SELECT DISTINCT %s FROM %s OFFSET 0) AS cs9_s WHERE (%s) IS NOT TRUE)', v_columns, v_staged, v_bounds)
        INTO v_found;
        IF NOT v_found THEN
            RETURN;
        END IF;
    END IF;
    v_rows := format('FROM %s AS cs9_s WHERE (%s) IS NOT TRUE', v_staged, coalesce(v_bounds, 'false'));
    EXECUTE format('SELECT EXISTS (SELECT %s)', v_rows) INTO v_found;
    IF v_found THEN
        EXECUTE format('SELECT (cs9_s.*)::text %s LIMIT 1', v_rows) INTO v_row;
        PERFORM cs9.cannot_finish(p_table_id, 'a staged row has no partition to go to',
            format('The row is %s.', left(v_row, 200)), 'Add the partition to the definition and generate, detach the table where it is a partition itself, or correct the row.');
    END IF;
END;
$check_partitions$;
COMMENT ON FUNCTION cs9.check_partitions(bigint, integer) IS 'Refuses staged rows that no partition takes';
