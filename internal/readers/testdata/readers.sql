-- What the readers of the tests read, and how a generation is staged.
-- A row is read as one number: gen * 1000 + k * 2 + (region is north).
-- Generation g has the keys 1 + g % 5 to 24 + g % 5; odd keys are north.

-- Stages one plan of three of a generation, in one transaction.
CREATE FUNCTION readers.stage(p_run bigint, p_plan integer, p_attempt integer, p_gen integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_table text;
BEGIN
    IF NOT cs9.begin_plan(p_run, p_plan, p_attempt) THEN
        RAISE EXCEPTION 'plan % is done before it began', p_plan;
    END IF;
    FOREACH v_table IN ARRAY ARRAY['readers.one', 'readers.parts'] LOOP
        IF p_plan = 1 THEN
            PERFORM cs9.drop_all_rows(v_table);
        END IF;
        EXECUTE format(
            'INSERT INTO %s (k, region, gen) SELECT k, CASE k %% 2 WHEN 1 THEN ''north'' ELSE ''south'' END, $1
             FROM generate_series($2 + $1 %% 5, $2 + 7 + $1 %% 5) AS k', cs9.staging_table(p_run, v_table))
        USING p_gen, (p_plan - 1) * 8 + 1;
    END LOOP;
    PERFORM cs9.finish_plan(p_run, p_plan, p_attempt);
END $$;

-- Waits until the advisory lock 12 is free: the statement that calls it has a snapshot from before.
CREATE FUNCTION readers.gate() RETURNS integer LANGUAGE plpgsql VOLATILE SET lock_timeout = 0 AS $$
BEGIN
    PERFORM pg_advisory_lock_shared(12);
    PERFORM pg_advisory_unlock_shared(12);
    RETURN 1;
END $$;
