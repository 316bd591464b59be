-- Run in the scratch database before a migration that adopts tables. Until
-- cs9gen_check.restore() a table that is not there is made of the model that
-- the migration itself makes to compare with: it is the table as the definition
-- had it that adopted it. One that is there, because --scratch-sql made it, or
-- because it was adopted before, is compared as ever.
CREATE SCHEMA IF NOT EXISTS cs9gen_check;

-- what was made
CREATE TABLE IF NOT EXISTS cs9gen_check.made (relation oid PRIMARY KEY, schema_name name NOT NULL);

-- foreign keys of what was made, while the tables that they reference are not there
CREATE TABLE IF NOT EXISTS cs9gen_check.foreign_key (relation oid, name name, clause text, PRIMARY KEY (relation, name));

-- the sequence that a default takes from, as nextval names it
CREATE OR REPLACE FUNCTION cs9gen_check.make_sequence(p_name text)
RETURNS void
LANGUAGE plpgsql
AS $make_sequence$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_name);
BEGIN
    IF to_regclass(p_name) IS NULL THEN
        IF cardinality(v_name) = 2 THEN
            EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', v_name[1]);
        END IF;
        EXECUTE format('CREATE SEQUENCE %s', p_name);
    END IF;
END;
$make_sequence$;

CREATE OR REPLACE FUNCTION cs9gen_check.make_adopted(p_schema name, p_table name, p_foreign_keys jsonb)
RETURNS void
LANGUAGE plpgsql
AS $make_adopted$
DECLARE
    v_model CONSTANT regclass := format('cs9_staging.%I', p_table)::regclass;
    v_live  CONSTANT regclass := to_regclass(format('%I.%I', p_schema, p_table));
    v_name  text;
BEGIN
    IF v_live IS NOT NULL THEN
        BEGIN
            PERFORM cs9gen_check.check_adopted(p_schema, p_table, p_foreign_keys);
            RETURN;
        EXCEPTION WHEN SQLSTATE 'S9021' THEN
            -- adopted for the second time, and changed by hand in between
            IF NOT EXISTS (SELECT FROM cs9gen_check.made AS m WHERE m.relation = v_live) THEN
                RAISE;
            END IF;
            DELETE FROM cs9gen_check.foreign_key AS f WHERE f.relation = v_live;
            DELETE FROM cs9gen_check.made AS m WHERE m.relation = v_live;
            EXECUTE format('DROP TABLE %s', v_live);
        END;
    END IF;
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', p_schema);
    FOR v_name IN
        SELECT format('%I.%I', n.nspname, c.relname)
        FROM (SELECT v_model::oid AS oid UNION SELECT t.relid::oid FROM pg_partition_tree(v_model) AS t) AS x
        JOIN pg_class AS c ON c.oid = x.oid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LOOP
        EXECUTE format('ALTER TABLE %s SET SCHEMA %I', v_name, p_schema);
    END LOOP;
    INSERT INTO cs9gen_check.made VALUES (v_model, p_schema);
    INSERT INTO cs9gen_check.foreign_key SELECT v_model, f.key, f.value FROM jsonb_each_text(p_foreign_keys) AS f;
END;
$make_adopted$;

-- adds the foreign keys for which the tables are there
CREATE OR REPLACE FUNCTION cs9gen_check.add_foreign_keys()
RETURNS void
LANGUAGE plpgsql
AS $add_foreign_keys$
DECLARE
    v_key record;
BEGIN
    DELETE FROM cs9gen_check.foreign_key AS f WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = f.relation);
    FOR v_key IN SELECT f.relation, f.name, f.clause FROM cs9gen_check.foreign_key AS f ORDER BY f.relation, f.name LOOP
        BEGIN
            EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', v_key.relation::regclass, v_key.name, v_key.clause);
            DELETE FROM cs9gen_check.foreign_key AS f WHERE f.relation = v_key.relation AND f.name = v_key.name;
        EXCEPTION WHEN undefined_table OR invalid_schema_name THEN
            NULL;  -- it waits for the table
        END;
    END LOOP;
END;
$add_foreign_keys$;

CREATE OR REPLACE FUNCTION cs9gen_check.restore()
RETURNS void
LANGUAGE plpgsql
AS $restore$
BEGIN
    DROP FUNCTION cs9.check_adopted(name, name, jsonb);
    ALTER FUNCTION cs9gen_check.check_adopted(name, name, jsonb) SET SCHEMA cs9;
    PERFORM cs9gen_check.add_foreign_keys();
END;
$restore$;

ALTER FUNCTION cs9.check_adopted(name, name, jsonb) SET SCHEMA cs9gen_check;
CREATE FUNCTION cs9.check_adopted(name, name, jsonb)
RETURNS void
LANGUAGE sql
AS $check_adopted$SELECT cs9gen_check.make_adopted($1, $2, $3)$check_adopted$;
