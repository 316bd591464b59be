-- Purpose: the sequences that columns of a table owned before cs9.set_aside belong to those of the one that took its name.
-- Contract: in the transaction of cs9.set_aside; the new table has the old one's owner.
CREATE FUNCTION cs9.own_sequences(p_table regclass)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $own_sequences$
#variable_conflict error
DECLARE
    v_owned record;
BEGIN
    FOR v_owned IN
        SELECT o.sequence::regclass AS sequence, o."column" AS column_name
        FROM jsonb_to_recordset(cs9.setting('owned_sequences', '[]')::jsonb) AS o (sequence oid, "column" name)
    LOOP
        EXECUTE format('ALTER SEQUENCE %s OWNED BY %s.%I', v_owned.sequence, p_table, v_owned.column_name);
    END LOOP;
    PERFORM set_config('cs9.owned_sequences', '', true);
END;
$own_sequences$;
COMMENT ON FUNCTION cs9.own_sequences(regclass) IS 'Gives the sequences of a table that was set aside to the one that took its name';
