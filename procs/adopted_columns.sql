-- Purpose: in what the columns of a table differ from those of its model. Their order is no difference.
CREATE FUNCTION cs9.adopted_columns(p_model regclass, p_live regclass)
RETURNS SETOF text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $adopted_columns$
#variable_conflict error
BEGIN
    RETURN QUERY
    SELECT format('column %I: %s in the database, %s in the definition', coalesce(l.column_name, m.column_name),
                  coalesce(l.shape, 'not there'), coalesce(m.shape, 'not there'))
    FROM cs9.column_shapes(p_live) AS l
    FULL JOIN cs9.column_shapes(p_model) AS m ON m.column_name = l.column_name
    WHERE l.kind IS DISTINCT FROM m.kind OR NOT cs9.same_expression(p_model, m.expression, l.expression)
    ORDER BY coalesce(l.column_name, m.column_name) COLLATE "C";
END;
$adopted_columns$;
COMMENT ON FUNCTION cs9.adopted_columns(regclass, regclass) IS 'In what the columns of a table differ from those of its model';
