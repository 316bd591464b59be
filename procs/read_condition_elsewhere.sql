-- Purpose: as cs9.read_condition, with settings as unlike those of cs9.print_condition as can be: what reads the same here
--          reads the same in every session.
CREATE FUNCTION cs9.read_condition_elsewhere(p_table_id integer, p_reading integer, p_condition text)
RETURNS name
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET datestyle = 'SQL, DMY'
SET intervalstyle = 'sql_standard'
SET timezone = '<+0545>-05:45'
SET standard_conforming_strings = on
SET array_nulls = off
SET transform_null_equals = on
SET xmloption = document
AS $read_condition_elsewhere$
#variable_conflict error
BEGIN
    RETURN cs9.read_condition(p_table_id, p_reading, p_condition);
END;
$read_condition_elsewhere$;
COMMENT ON FUNCTION cs9.read_condition_elsewhere(integer, integer, text) IS 'Lets PostgreSQL read a condition with settings that nobody has';
