-- Purpose: call the function that was generated for the table to apply what differs.
-- Returns: what was done, for people.
CREATE FUNCTION cs9.apply_atomic(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $apply_atomic$
#variable_conflict error
DECLARE
    v_definition cs9.table_definition;
    v_staged     text;
    v_deleted    bigint;
    v_updated    bigint;
    v_inserted   bigint;
BEGIN
    SELECT d.* INTO STRICT v_definition FROM cs9.table_definition AS d WHERE d.table_id = p_table_id;
    -- a run that only deletes has staged nothing
    v_staged := coalesce(cs9.staged_label(p_run_id, p_table_id), format('(SELECT * FROM %I.%I WHERE false)', v_definition.schema_name, v_definition.staging_name));
    EXECUTE format('SELECT cs9_a.rows_deleted, cs9_a.rows_updated, cs9_a.rows_inserted FROM %I.%I($1, $2, $3) AS cs9_a', v_definition.schema_name, v_definition.apply_function)
    INTO v_deleted, v_updated, v_inserted
    USING v_staged, cs9.run_deletes(p_run_id, p_table_id), cs9.replaces_rows(p_table_id);
    RETURN format('%s: %s deleted, %s updated, %s inserted', cs9.table_label(p_table_id),
                  v_deleted, v_updated, v_inserted);
END;
$apply_atomic$;
COMMENT ON FUNCTION cs9.apply_atomic(bigint, integer) IS 'Applies to an atomic table what differs';
