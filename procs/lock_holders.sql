-- Purpose: who holds locks on a table that others may have to wait for, as a text for a message.
-- Returns: the process, its program, since when its statement runs and the lock's mode, of each; a text without them
--          when nobody does any more.
CREATE FUNCTION cs9.lock_holders(p_relation regclass)
RETURNS text
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog, pg_temp
AS $lock_holders$
#variable_conflict error
BEGIN
    PERFORM pg_stat_clear_snapshot();
    RETURN coalesce(
        (
            SELECT string_agg(
                       format('process %s%s holds %s%s', h.pid, ' (' || nullif(a.application_name, '') || ')', h.modes,
                              ', its statement began at ' || date_trunc('second', a.query_start)),
                       '; ' ORDER BY a.query_start, h.pid)
            FROM (
                SELECT l.pid, string_agg(DISTINCT l.mode, ', ') AS modes
                FROM pg_catalog.pg_locks AS l
                JOIN pg_catalog.pg_database AS d ON d.oid = l.database
                WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
                  AND d.datname = current_database()
                  AND l.relation IN (
                      -- not by pg_partition_tree, which would wait for the lock
                      WITH RECURSIVE part (oid) AS (
                          SELECT p_relation::oid
                          UNION ALL
                          SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN part AS p ON p.oid = i.inhparent
                      )
                      SELECT p.oid FROM part AS p)
                GROUP BY l.pid
            ) AS h
            LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = h.pid
        ),
        'who held it has gone meanwhile');
END;
$lock_holders$;
COMMENT ON FUNCTION cs9.lock_holders(regclass) IS 'Who holds locks on a table, as a text for a message';
