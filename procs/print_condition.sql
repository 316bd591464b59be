-- Purpose: the expression of a column of cs9.condition_table, printed in a way that every session reads alike: this is the
--          one list of the settings with which conditions are printed.
-- How:     literals in which a backslash is left are written as E'…', which do not depend on standard_conforming_strings.
CREATE FUNCTION cs9.print_condition(p_column name)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET timezone = 'UTC'
SET extra_float_digits = 1
SET bytea_output = 'hex'
SET lc_monetary = 'C'
SET quote_all_identifiers = off
SET standard_conforming_strings = off   -- backslashes are printed twice
AS $print_condition$
#variable_conflict error
DECLARE
    v_text text := (
        SELECT pg_get_expr(d.adbin, d.adrelid)
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = to_regclass(cs9.condition_table()) AND a.attname = p_column);
BEGIN
    IF strpos(v_text, E'\\') > 0 THEN
        v_text := (
            SELECT string_agg(CASE WHEN left(t.token, 1) = '''' AND strpos(t.token, E'\\') > 0 THEN 'E' || t.token ELSE t.token END, '' ORDER BY t.n)
            FROM cs9.condition_tokens(v_text) AS t);
    END IF;
    RETURN v_text;
END;
$print_condition$;
COMMENT ON FUNCTION cs9.print_condition(name) IS 'Prints a condition in a way that every session reads alike';
