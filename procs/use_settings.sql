-- Purpose: from here to the end of the transaction the settings are those under which the run was proved.
-- Contract: without a SET clause for any of them, which would take them back at the end of this call.
CREATE FUNCTION cs9.use_settings(p_settings jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $use_settings$
#variable_conflict error
BEGIN
    PERFORM set_config(s.key, s.value, true) FROM jsonb_each_text(p_settings) AS s;
END;
$use_settings$;
COMMENT ON FUNCTION cs9.use_settings(jsonb) IS 'Takes over the settings under which a run was proved, for this transaction';
