-- Purpose: write down a new run with its plans and tables.
CREATE FUNCTION cs9.insert_run(
    p_task_id     integer,
    p_run_key     text,
    p_table_ids   integer[],
    p_plans       jsonb,
    p_today       date,
    p_allow_empty boolean,
    p_owner       text
)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $insert_run$
#variable_conflict error
DECLARE
    v_run_id bigint;
BEGIN
    INSERT INTO cs9.run (task_id, run_key, today, plans, plans_digest, allow_empty, owner)
    VALUES (p_task_id, p_run_key, p_today, jsonb_array_length(p_plans), cs9.plans_digest(p_plans),
            coalesce(p_allow_empty, false), coalesce(p_owner, ''))
    RETURNING run_id INTO v_run_id;

    INSERT INTO cs9.run_table (run_id, table_id, definition_hash, publish_mode)
    SELECT v_run_id, d.table_id, d.definition_hash, d.publish_mode
    FROM cs9.table_definition AS d
    WHERE d.table_id = ANY (p_table_ids);

    INSERT INTO cs9.plan (run_id, plan, argsets)
    SELECT v_run_id, e.ordinality, e.value
    FROM jsonb_array_elements(p_plans) WITH ORDINALITY AS e;

    RETURN v_run_id;
END;
$insert_run$;
COMMENT ON FUNCTION cs9.insert_run(integer, text, integer[], jsonb, date, boolean, text) IS 'Writes down a new run, its plans and tables';
