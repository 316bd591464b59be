-- Purpose: which triggers of users fire when rows of a table, or of its partitions, are changed. A partition's copy of a trigger of
--          its table is not named again.
-- Contract: p_events are the bits of pg_trigger.tgtype: 1 a row, 2 before it, 4 INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE; all of
--           those in p_kind must be set, and one of those in p_events.
-- Returns: their names, as people read them; null when there is none.
CREATE FUNCTION cs9.user_triggers(p_relation regclass, p_events integer, p_kind integer DEFAULT 0)
RETURNS text
LANGUAGE plpgsql
STABLE
SET search_path = pg_catalog, pg_temp
AS $user_triggers$
#variable_conflict error
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT quote_ident(t.tgname), ', ')
        FROM pg_catalog.pg_trigger AS t
        WHERE t.tgrelid IN (SELECT p_relation::oid UNION SELECT r.relation FROM cs9.partition_tree(p_relation) AS r)
          AND NOT t.tgisinternal
          AND t.tgenabled IN ('O', 'A')
          AND t.tgtype & p_kind = p_kind
          AND t.tgtype & p_events <> 0
    );
END;
$user_triggers$;
COMMENT ON FUNCTION cs9.user_triggers(regclass, integer, integer) IS 'The triggers of users that fire when rows of a table are changed';
