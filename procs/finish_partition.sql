-- Purpose: make a staged table a plain one, as the partition is whose place it takes: no control column, no trigger, no
--          check or grant of its own; unique indexes become constraints where they are.
-- Contract: changes of the catalogue only. Nobody but the run knows the table.
CREATE FUNCTION cs9.finish_partition(p_run_id bigint, p_table_id integer, p_leaf regclass, p_staged regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $finish_partition$
#variable_conflict error
DECLARE
    v_command text;
BEGIN
    FOR v_command IN
        SELECT format('ALTER TABLE %s DETACH PARTITION %s', i.inhparent::regclass, p_staged)
        FROM pg_catalog.pg_inherits AS i
        WHERE i.inhrelid = p_staged
    LOOP
        EXECUTE v_command;
    END LOOP;

    EXECUTE format('DROP TRIGGER cs9_guard ON %s', p_staged);
    EXECUTE format('ALTER TABLE %s DROP COLUMN cs9_run, DROP COLUMN cs9_plan, DROP COLUMN cs9_op', p_staged);
    FOR v_command IN
        -- checks that the partition does not have
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', p_staged, s.conname)
        FROM pg_catalog.pg_constraint AS s
        WHERE s.conrelid = p_staged AND s.contype = 'c' AND s.conname <> 'cs9_bound'
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS l
                          WHERE l.conrelid = p_leaf AND l.contype = 'c' AND l.conname = s.conname)
        UNION ALL
        -- values of an identity were drawn from its sequence when the rows were staged
        SELECT format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', p_staged, s.attname)
        FROM pg_catalog.pg_attribute AS s
        JOIN pg_catalog.pg_attribute AS l ON l.attrelid = p_leaf AND l.attname = s.attname
        WHERE s.attrelid = p_staged AND s.attnum > 0 AND s.atthasdef AND NOT l.atthasdef
        UNION ALL
        SELECT format('ALTER TABLE %1$s ADD CONSTRAINT %2$I %3$s USING INDEX %2$I%4$s%5$s', p_staged,
                      cs9.staged_index(p_run_id, p_table_id, u.conindid),
                      CASE u.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END,
                      CASE WHEN u.condeferrable THEN ' DEFERRABLE' END,
                      CASE WHEN u.condeferred THEN ' INITIALLY DEFERRED' END)
        FROM pg_catalog.pg_constraint AS u
        WHERE u.conrelid = p_leaf AND u.contype IN ('p', 'u')
        UNION ALL
        SELECT format('REVOKE ALL ON TABLE %s FROM %s', p_staged,
                      CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END)
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL (SELECT DISTINCT x.grantee FROM aclexplode(c.relacl) AS x WHERE x.grantee <> c.relowner) AS g
        WHERE c.oid = p_staged
        UNION ALL
        SELECT format('ALTER TABLE %s REPLICA IDENTITY %s', p_staged, CASE l.relreplident WHEN 'f' THEN 'FULL' ELSE 'NOTHING' END)
        FROM pg_catalog.pg_class AS l
        WHERE l.oid = p_leaf AND l.relreplident IN ('f', 'n')
        UNION ALL
        SELECT format('COMMENT ON TABLE %s IS %L', p_staged, obj_description(p_leaf, 'pg_class'))
    LOOP
        EXECUTE v_command;
    END LOOP;

    -- the owner comes last: another one may not be asked for more
    FOR v_command IN
        SELECT format('GRANT %s ON TABLE %s TO %s%s', x.privilege_type, p_staged,
                      CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END,
                      CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END)
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL aclexplode(c.relacl) AS x
        WHERE c.oid = p_leaf AND x.grantee <> c.relowner
        UNION ALL
        SELECT format('ALTER TABLE %s OWNER TO %I', p_staged, pg_get_userbyid(l.relowner))
        FROM pg_catalog.pg_class AS l
        JOIN pg_catalog.pg_class AS s ON s.oid = p_staged
        WHERE l.oid = p_leaf AND l.relowner <> s.relowner
    LOOP
        EXECUTE v_command;
    END LOOP;
END;
$finish_partition$;
COMMENT ON FUNCTION cs9.finish_partition(bigint, integer, regclass, regclass) IS 'Makes a staged table as plain as the partition whose place it takes';
