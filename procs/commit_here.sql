-- Purpose: a piece of a publish that others follow need not wait for a standby when it commits: locks are held while
--          COMMIT waits, and readers behind them. The commit that ends the run waits as the session has asked, and covers
--          all that was written before it.
CREATE FUNCTION cs9.commit_here()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $commit_here$
#variable_conflict error
BEGIN
    IF current_setting('synchronous_commit') <> 'off' THEN
        PERFORM set_config('synchronous_commit', 'local', true);
    END IF;
END;
$commit_here$;
COMMENT ON FUNCTION cs9.commit_here() IS 'Lets the COMMIT of this transaction wait for no standby';
