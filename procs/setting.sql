-- Purpose: a setting of this project, or its default where it is unset or empty.
CREATE FUNCTION cs9.setting(p_name text, p_default text)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $setting$
#variable_conflict error
BEGIN
    RETURN coalesce(nullif(current_setting('cs9.' || p_name, true), ''), p_default);
END;
$setting$;
COMMENT ON FUNCTION cs9.setting(text, text) IS 'Value of the setting cs9.<name>, or the default';
