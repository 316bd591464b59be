-- Purpose: the values of the columns by which a table is split that its staged rows have, as a condition on live rows: with
--          it PostgreSQL can tell the partitions to which they go.
-- How:     each combination of values while there are few of them, else the range of each column.
-- Returns: 'true' where a level is split by an expression, 'false' where nothing is staged.
CREATE FUNCTION cs9.staged_values(p_run_id bigint, p_table_id integer)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $staged_values$
#variable_conflict error
DECLARE
    c_few     CONSTANT integer := 1000;
    v_staged  CONSTANT text := cs9.staged_label(p_run_id, p_table_id);
    v_columns CONSTANT name[] := cs9.partition_columns(to_regclass(cs9.table_label(p_table_id)));
    v_names   text;
    v_equal   text;  -- an expression whose value is the condition for one combination
    v_within  text;  -- a query for the conditions on the ranges
    v_values  text;
BEGIN
    IF v_staged IS NULL THEN
        RETURN 'false';
    ELSIF v_columns IS NULL THEN
        RETURN 'true';
    END IF;
    SELECT string_agg(c.name, ', '),
           string_agg(format('CASE WHEN cs9_v.%1$s IS NOT DISTINCT FROM NULL THEN %2$L ELSE %3$L || quote_literal(cs9_v.%1$s) || %4$L END',
                             c.name, c.name || ' IS NULL', c.name || ' = ', c.type), $and$ || ' AND ' || $and$),
           format('SELECT concat_ws('' AND '', %s)', string_agg(format(
               $range$
               '(%1$s IS NULL OR %1$s >= ' || (SELECT quote_literal(cs9_v.%1$s) FROM %2$s AS cs9_v ORDER BY cs9_v.%1$s LIMIT 1) || '%3$s AND %1$s <= '
                   || (SELECT quote_literal(cs9_v.%1$s) FROM %2$s AS cs9_v WHERE cs9_v.%1$s IS DISTINCT FROM NULL ORDER BY cs9_v.%1$s DESC LIMIT 1) || '%3$s)'
               $range$, replace(c.name, '''', ''''''), v_staged, replace(c.type, '''', '''''')), ', '))
    INTO v_names, v_equal, v_within
    FROM (
        SELECT quote_ident(a.attname) AS name, '::' || cs9.type_name(a.atttypid, a.atttypmod) AS type
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = to_regclass(v_staged) AND a.attname = ANY (v_columns)
    ) AS c;
    EXECUTE format(
        $few$
        SELECT CASE WHEN count(*) <= %1$s THEN coalesce(string_agg('(' || %2$s || ')', ' OR '), 'false') END
        FROM (SELECT DISTINCT %3$s FROM %4$s LIMIT %1$s + 1) AS cs9_v
        $few$, c_few, v_equal, v_names, v_staged)
    INTO v_values;
    IF v_values IS NULL THEN
        EXECUTE v_within INTO v_values;
    END IF;
    RETURN v_values;
END;
$staged_values$;
COMMENT ON FUNCTION cs9.staged_values(bigint, integer) IS 'The values by which staged rows are told apart into partitions, as a condition';
