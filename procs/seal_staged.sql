-- Purpose: prove that the run wrote each row (key) once, and count what it wrote.
-- How:     the unique index on the key is built once, now; kept during the load it would cost more than the load.
-- Errors:  S9011 names the table, the first key written twice and the plans that wrote it; S9013 a key that no index takes;
--          S9016 rows of no plan of the run.
CREATE FUNCTION cs9.seal_staged(p_run_id bigint, p_table_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $seal_staged$
#variable_conflict error
DECLARE
    v_definition cs9.table_definition;
    v_staged     text := cs9.staged_label(p_run_id, p_table_id);
    v_keys       text;
    v_key        text;
    v_plans      text;
    v_inserted   bigint;
    v_upserted   bigint;
    v_stray      bigint;
BEGIN
    IF v_staged IS NULL THEN
        UPDATE cs9.run_table AS t SET rows_inserted = 0, rows_upserted = 0, staged_values = 'false'
        WHERE t.run_id = p_run_id AND t.table_id = p_table_id;
        RETURN;
    END IF;
    SELECT d.* INTO STRICT v_definition FROM cs9.table_definition AS d WHERE d.table_id = p_table_id;
    SELECT string_agg(format('%I', k.name), ', ' ORDER BY k.ordinality) INTO v_keys
    FROM unnest(v_definition.keys) WITH ORDINALITY AS k (name, ordinality);

    BEGIN
        EXECUTE format('CREATE UNIQUE INDEX %I ON %s (%s)', cs9.staged_name(p_run_id, p_table_id, 'key'), v_staged, v_keys);
    EXCEPTION
        WHEN unique_violation THEN
            EXECUTE format(
                $find_twice$
                SELECT concat_ws(', ', %1$s) AS cs9_key, string_agg(DISTINCT format('plan %%s', cs9_plan), ' and ') AS cs9_plans
                FROM %2$s GROUP BY %1$s HAVING count(*) > 1 ORDER BY %1$s LIMIT 1
                $find_twice$, v_keys, v_staged)
            INTO v_key, v_plans;
            RAISE EXCEPTION 'row (%) = (%) of %.% was written more than once', v_keys, v_key,
                            quote_ident(v_definition.schema_name), quote_ident(v_definition.table_name)
                USING ERRCODE = 'S9011',
                      DETAIL = format('Written by %s.', v_plans),
                      HINT = 'Let each row be written by one plan, once; nothing was published.',
                      SCHEMA = v_definition.schema_name, TABLE = v_definition.table_name;
        WHEN program_limit_exceeded THEN
            PERFORM cs9.cannot_finish(p_table_id, 'the key of a staged row does not fit into an index', SQLERRM, 'Shorten the value, or make another column the key.');
    END;

    PERFORM cs9.analyze_staged(p_table_id, v_staged);
    EXECUTE format(
        $count$
        SELECT count(*) FILTER (WHERE cs9_op = 'i') AS cs9_inserted, count(*) FILTER (WHERE cs9_op = 'u') AS cs9_upserted,
               count(*) FILTER (WHERE cs9_run <> $1 OR cs9_plan NOT BETWEEN 1 AND $2) AS cs9_stray
        FROM %s
        $count$, v_staged)
    INTO v_inserted, v_upserted, v_stray
    USING p_run_id, (SELECT r.plans FROM cs9.run AS r WHERE r.run_id = p_run_id);
    IF v_stray > 0 THEN
        RAISE EXCEPTION '% staged rows of %.% name a run or plan that this run does not have', v_stray,
                        quote_ident(v_definition.schema_name), quote_ident(v_definition.table_name)
            USING ERRCODE = 'S9016',
                  DETAIL = 'cs9_run and cs9_plan say whose rows they are. No later attempt would remove these.',
                  HINT = 'Discard the run; leave cs9_run and cs9_plan out of what is written: their defaults are right.',
                  SCHEMA = v_definition.schema_name, TABLE = v_definition.table_name;
    END IF;
    UPDATE cs9.run_table AS t
    SET rows_inserted = v_inserted, rows_upserted = v_upserted,
        staged_values = CASE WHEN cs9.has_many_partitions(p_table_id) THEN cs9.staged_values(p_run_id, p_table_id) END
    WHERE t.run_id = p_run_id AND t.table_id = p_table_id;
END;
$seal_staged$;
COMMENT ON FUNCTION cs9.seal_staged(bigint, integer) IS 'Builds the unique index on staged rows, which proves that each was written once, and counts them';
