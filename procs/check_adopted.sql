-- Purpose: called by the migration that adopts a table: prove that what is there is what the definition says.
-- Contract: the migration has made a model of the definition in cs9_staging, under the names of the table and of all that is
--           the table's; it is dropped here. What the table has besides is left alone: indexes and constraints more,
--           triggers, policies, grants, comments, settings, another order of columns.
-- Locks:   the table, ACCESS SHARE: nobody changes its columns until the migration ends.
-- Errors:  S9021 lists all differences.
CREATE FUNCTION cs9.check_adopted(p_schema name, p_table name, p_foreign_keys jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_adopted$
#variable_conflict error
DECLARE
    v_model       CONSTANT regclass := format('cs9_staging.%I', p_table)::regclass;
    v_live        CONSTANT regclass := to_regclass(format('%I.%I', p_schema, p_table));
    v_differences text[];
    v_pair        record;
BEGIN
    IF v_live IS NULL THEN
        RAISE EXCEPTION '%.% is not there, and cannot be adopted', quote_ident(p_schema), quote_ident(p_table)
            USING ERRCODE = 'S9021',
                  DETAIL = 'Its definition has adopt: true, which is for tables that are there already.',
                  HINT = 'Create it as it was, or remove this migration and its part of cs9gen.lock, take adopt out of the definition, and generate again.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
    IF EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = v_live AND c.relkind IN ('r', 'p')) THEN
        EXECUTE format('LOCK TABLE ONLY %I.%I IN ACCESS SHARE MODE', p_schema, p_table);
    END IF;

    v_differences := ARRAY (SELECT cs9.adopted_columns(v_model, v_live));
    FOR v_pair IN SELECT p.model, p.live, p.label FROM cs9.adopted_pairs(v_model, v_live) AS p LOOP
        v_differences := v_differences || ARRAY (
            SELECT v_pair.label || d.what
            FROM (
                SELECT cs9.adopted_relation(v_pair.model, v_pair.live) AS what
                UNION ALL
                SELECT cs9.adopted_constraints(v_pair.model, v_pair.live)
                UNION ALL
                SELECT cs9.adopted_indexes(v_pair.model, v_pair.live)
            ) AS d);
    END LOOP;
    v_differences := v_differences || ARRAY (SELECT cs9.adopted_foreign_keys(v_live, p_foreign_keys));
    IF cardinality(v_differences) > 0 THEN
        RAISE EXCEPTION '%.% is not as its definition says, and cannot be adopted: %', quote_ident(p_schema), quote_ident(p_table), array_to_string(v_differences, '; ')
            USING ERRCODE = 'S9021',
                  DETAIL = 'A run would publish what does not fit the table. Nothing was changed.',
                  HINT = 'Change the table by hand and migrate again. Or correct the definition: remove this migration and its part of cs9gen.lock, and generate again.',
                  SCHEMA = p_schema, TABLE = p_table;
    END IF;
    EXECUTE format('DROP TABLE %s', v_model);
END;
$check_adopted$;
COMMENT ON FUNCTION cs9.check_adopted(name, name, jsonb) IS 'Proves that a table is what the definition says that adopts it';
