-- Purpose: who holds the strongest locks on tables, as a text for a message where nothing says which lock was not to be had:
--          PostgreSQL does not tell.
-- Contract: it looks at nothing that could be locked itself.
CREATE FUNCTION cs9.strongest_locks()
RETURNS text
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog, pg_temp
AS $strongest_locks$
#variable_conflict error
DECLARE
    v_modes   CONSTANT text[] := ARRAY['RowShareLock', 'RowExclusiveLock', 'ShareUpdateExclusiveLock', 'ShareLock',
                                       'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];
    v_holders text;
BEGIN
    PERFORM pg_stat_clear_snapshot();
    SELECT string_agg(
               format('process %s%s holds %s on %s%s', h.pid, ' (' || nullif(a.application_name, '') || ')', h.mode, h.relation,
                      ', its transaction began at ' || date_trunc('second', a.xact_start)),
               '; ' ORDER BY h.strength DESC, a.xact_start, h.pid)
    INTO v_holders
    FROM (
        SELECT s.pid, s.mode, s.strength, s.relation
        FROM (
            SELECT DISTINCT ON (l.pid) l.pid, l.mode, array_position(v_modes, l.mode) AS strength, format('%I.%I', n.nspname, c.relname) AS relation
            FROM pg_catalog.pg_locks AS l
            JOIN pg_catalog.pg_database AS d ON d.oid = l.database AND d.datname = current_database()
            JOIN pg_catalog.pg_class AS c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid() AND l.mode = ANY (v_modes)
              AND n.nspname <> 'pg_catalog'
            ORDER BY l.pid, strength DESC, relation
        ) AS s
        ORDER BY s.strength DESC, s.pid
        LIMIT 5
    ) AS h
    LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = h.pid;
    RETURN 'the strongest locks are: ' || coalesce(v_holders, 'none any more');
END;
$strongest_locks$;
COMMENT ON FUNCTION cs9.strongest_locks() IS 'Who holds the strongest locks on tables, as a text for a message';
