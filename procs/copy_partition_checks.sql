-- Purpose: the checks of a partition, for its successor, and its bound as a check: with it PostgreSQL need not read the
--          rows again during the switch.
-- Errors:  S9013 a check of this name says something else now than when the rows were staged.
CREATE FUNCTION cs9.copy_partition_checks(p_table_id integer, p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $copy_partition_checks$
#variable_conflict error
DECLARE
    v_check record;
BEGIN
    FOR v_check IN
        SELECT l.conname, pg_get_constraintdef(l.oid) AS definition, s.oid IS NOT NULL AS is_there,
               pg_get_constraintdef(l.oid) = pg_get_constraintdef(s.oid) AS prints_alike,
               cs9.same_expression(p_leaf, pg_get_expr(l.conbin, l.conrelid), pg_get_expr(s.conbin, s.conrelid)) AS is_same
        FROM pg_catalog.pg_constraint AS l
        LEFT JOIN pg_catalog.pg_constraint AS s ON s.conrelid = p_staged AND s.contype = 'c' AND s.conname = l.conname
        WHERE l.conrelid = p_leaf AND l.contype = 'c'
        UNION ALL
        SELECT 'cs9_bound', format('CHECK (%s)', pg_get_partition_constraintdef(p_leaf::oid)),
               EXISTS (SELECT FROM pg_catalog.pg_constraint AS s WHERE s.conrelid = p_staged AND s.conname = 'cs9_bound'), true, true
        WHERE pg_get_partition_constraintdef(p_leaf::oid) IS NOT NULL
        ORDER BY conname
    LOOP
        IF NOT v_check.is_there THEN
            PERFORM set_config('search_path', cs9.table_path(p_table_id), true);  -- for what the check calls
            EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', p_staged, v_check.conname, v_check.definition);
            PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
        ELSIF NOT v_check.is_same OR NOT v_check.prints_alike AND NOT cs9.rewrite_check(p_staged, v_check.conname, v_check.definition) THEN
            PERFORM cs9.cannot_finish(p_table_id, format('its check %I was changed since the rows were staged', v_check.conname),
                format('It is %s now.', v_check.definition), 'Discard the run and start it again.');
        END IF;
    END LOOP;
END;
$copy_partition_checks$;
COMMENT ON FUNCTION cs9.copy_partition_checks(integer, regclass, regclass) IS 'Copies the checks of a partition, and its bound as a check';
