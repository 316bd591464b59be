-- Purpose: the settings of a session by which an expression or a trigger may give another value: kept with a run when it is
--          proved, so that its publish runs under them, whoever publishes and however often it is resumed.
CREATE FUNCTION cs9.settings_of_session()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $settings_of_session$
#variable_conflict error
BEGIN
    RETURN (
        SELECT jsonb_object_agg(s.name, s.setting)
        FROM pg_catalog.pg_settings AS s
        WHERE s.name IN ('TimeZone', 'timezone_abbreviations', 'DateStyle', 'IntervalStyle', 'extra_float_digits', 'bytea_output',
                         'xmlbinary', 'xmloption', 'array_nulls', 'transform_null_equals', 'row_security',
                         'default_text_search_config', 'lc_monetary', 'lc_numeric', 'lc_time')
    );
END;
$settings_of_session$;
COMMENT ON FUNCTION cs9.settings_of_session() IS 'The settings by which an expression or a trigger may give another value';
