-- @table is one of the tables.
CREATE VIEW readers.@table_view AS SELECT gen * 1000 + k * 2 + (region = 'north')::integer AS code FROM readers.@table;

CREATE FUNCTION readers.@table_stable_sql() RETURNS SETOF integer LANGUAGE sql STABLE
AS 'SELECT gen * 1000 + k * 2 + (region = ''north'')::integer FROM readers.@table';

CREATE FUNCTION readers.@table_volatile_sql() RETURNS SETOF integer LANGUAGE sql VOLATILE
AS 'SELECT gen * 1000 + k * 2 + (region = ''north'')::integer FROM readers.@table';

CREATE FUNCTION readers.@table_stable_plpgsql() RETURNS SETOF integer LANGUAGE plpgsql STABLE
AS 'BEGIN RETURN QUERY SELECT gen * 1000 + k * 2 + (region = ''north'')::integer FROM readers.@table; END';

CREATE FUNCTION readers.@table_volatile_plpgsql() RETURNS SETOF integer LANGUAGE plpgsql VOLATILE
AS 'BEGIN RETURN QUERY SELECT gen * 1000 + k * 2 + (region = ''north'')::integer FROM readers.@table; END';
