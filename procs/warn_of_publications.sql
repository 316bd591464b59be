-- Purpose: called when a table is registered: say that a publication of all tables has the staged ones too, which are made and
--          dropped with each run: a subscriber stops at the first row of one that it does not have.
CREATE FUNCTION cs9.warn_of_publications()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $warn_of_publications$
#variable_conflict error
DECLARE
    v_publication name;
BEGIN
    FOR v_publication IN SELECT p.pubname FROM pg_catalog.pg_publication AS p WHERE p.puballtables ORDER BY p.pubname COLLATE "C" LOOP
        RAISE WARNING 'the publication % publishes all tables, those in cs9_staging too', quote_ident(v_publication)
            USING DETAIL = 'Runs make and drop tables there. A subscription stops at the first row of one that its database does not have.',
                  HINT = 'Publish schemas or tables by name. A reader of the change stream that leaves out what it does not know needs nothing.';
    END LOOP;
END;
$warn_of_publications$;
COMMENT ON FUNCTION cs9.warn_of_publications() IS 'Says that a publication of all tables has the staged ones too';
