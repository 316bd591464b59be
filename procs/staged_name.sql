-- Purpose: the one place that names what is in cs9_staging. Two things never have one name, and none has that of a user's table
--          or index, which cannot begin with cs9_: a migration puts those there for a moment.
-- Contract: p_kind says what it is:
--           'rows'      the run's own table for a live one
--           'split'     its rows once more, split by partition; 'splitkey', the unique index on them
--           'part'      a partition of either; p_number is the oid of the live partition
--           'key'       the unique index that proves each key to be there once
--           'index'     what will take the place of an index of a live partition; p_number is the oid of the table it is on, and
--                       p_name a number that it has there
--           'old'       a live partition that was swapped out; p_number is its oid
--           'oldindex'  an index of it; p_number is its oid
--           p_name is for people, and cut where the whole has more than 63 bytes: what comes before it is unique.
CREATE FUNCTION cs9.staged_name(p_run_id bigint, p_table_id integer, p_kind text, p_number oid DEFAULT NULL, p_name name DEFAULT NULL)
RETURNS name
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $staged_name$
#variable_conflict error
BEGIN
    RETURN concat_ws('_', 'cs9', 'r' || p_run_id, 't' || p_table_id, concat(p_kind, p_number), p_name)::name;
END;
$staged_name$;
COMMENT ON FUNCTION cs9.staged_name(bigint, integer, text, oid, name) IS 'Name of a table or index in cs9_staging';
