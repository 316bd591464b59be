-- Purpose: what ALTER TABLE or ALTER INDEX has to say for options to be like those of another relation: SET (…), RESET (…), or no
--          row where they are.
-- Contract: p_prefix is '' or 'toast.'.
CREATE FUNCTION cs9.option_changes(p_wanted text[], p_there text[], p_prefix text)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
ROWS 2
SET search_path = pg_catalog, pg_temp
AS $option_changes$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT format('SET (%s)', string_agg(format('%s%I = %L', p_prefix, w.option_name, w.option_value), ', '))
    FROM pg_options_to_table(p_wanted) AS w
    LEFT JOIN pg_options_to_table(p_there) AS t ON t.option_name = w.option_name
    WHERE t.option_value IS DISTINCT FROM w.option_value
    HAVING count(*) > 0
    UNION ALL
    SELECT format('RESET (%s)', string_agg(format('%s%I', p_prefix, t.option_name), ', '))
    FROM pg_options_to_table(p_there) AS t
    WHERE t.option_name NOT IN (SELECT w.option_name FROM pg_options_to_table(p_wanted) AS w)
    HAVING count(*) > 0;
END;
$option_changes$;
COMMENT ON FUNCTION cs9.option_changes(text[], text[], text) IS 'What ALTER TABLE has to say for options to be like others';
