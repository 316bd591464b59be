-- Purpose: who holds the locks on rows of a control table for which others may have to wait, as a text for a message.
-- Contract: p_rows is a condition of SQL on the key of p_relation.
-- How:     the row's xmax is the transaction that has locked or changed it, or a group of them (a multixact): whoever runs
--          one of these and has locked rows of the table. They are of different counters, so that both are tried.
-- Returns: the process, its program and since when its transaction runs, of each; a text without them when nobody does
--          any more.
CREATE FUNCTION cs9.row_holders(p_relation regclass, p_rows text)
RETURNS text
LANGUAGE plpgsql
VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $row_holders$
#variable_conflict error
DECLARE
    v_holders xid[];
    v_xmax    xid;
BEGIN
    BEGIN
        PERFORM cs9.bound_lock_wait();
        EXECUTE format('SELECT array_agg(DISTINCT xmax::text)::xid[] FROM %s WHERE (%s) AND xmax <> ''0''', p_relation, p_rows) INTO v_holders;
    EXCEPTION
        WHEN lock_not_available THEN
            RETURN cs9.strongest_locks();  -- the whole table is locked
    END;
    FOREACH v_xmax IN ARRAY coalesce(v_holders, '{}') LOOP
        BEGIN
            v_holders := v_holders || ARRAY (SELECT m.xid FROM pg_get_multixact_members(v_xmax) AS m);
        EXCEPTION
            WHEN internal_error OR invalid_parameter_value THEN
                NULL;  -- there is no such group
        END;
    END LOOP;
    PERFORM pg_stat_clear_snapshot();
    RETURN coalesce(
        (
            SELECT string_agg(
                       format('process %s%s holds the row%s', h.pid, ' (' || nullif(a.application_name, '') || ')',
                              ', its transaction began at ' || date_trunc('second', a.xact_start)),
                       '; ' ORDER BY a.xact_start, h.pid)
            FROM (
                SELECT l.pid
                FROM pg_catalog.pg_locks AS l
                WHERE l.locktype = 'transactionid' AND l.granted AND l.pid <> pg_backend_pid() AND l.transactionid = ANY (v_holders)
                INTERSECT
                SELECT l.pid
                FROM pg_catalog.pg_locks AS l
                JOIN pg_catalog.pg_database AS d ON d.oid = l.database
                WHERE l.locktype = 'relation' AND l.granted AND l.relation = p_relation AND l.mode <> 'AccessShareLock'
                  AND d.datname = current_database()
            ) AS h
            LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = h.pid
        ),
        'who held the row has gone meanwhile');
END;
$row_holders$;
COMMENT ON FUNCTION cs9.row_holders(regclass, text) IS 'Who holds the locks on rows, as a text for a message';
