-- Purpose: a retry must have the plan list of the first attempt, or the skipped plans would be other plans.
-- Errors:  S9008, with the first difference in DETAIL.
CREATE FUNCTION cs9.check_same_plans(p_run cs9.run, p_plans jsonb)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $check_same_plans$
#variable_conflict error
DECLARE
    v_difference text;
BEGIN
    IF p_run.plans_digest = cs9.plans_digest(p_plans) THEN
        RETURN;
    END IF;

    SELECT format('Plan %s was %s and is now %s.',
                  coalesce(old.plan, new.plan),
                  coalesce(left(old.argsets::text, 200), 'not there'),
                  coalesce(left(new.argsets::text, 200), 'not there'))
    INTO v_difference
    FROM (SELECT p.plan, p.argsets FROM cs9.plan AS p WHERE p.run_id = p_run.run_id) AS old
    FULL JOIN (
        SELECT e.ordinality::integer AS plan, e.value AS argsets
        FROM jsonb_array_elements(p_plans) WITH ORDINALITY AS e
    ) AS new ON new.plan = old.plan
    WHERE old.argsets::text IS DISTINCT FROM new.argsets::text
    ORDER BY coalesce(old.plan, new.plan)
    LIMIT 1;

    RAISE EXCEPTION 'the plan list of run key % changed: %', quote_literal(p_run.run_key),
                    CASE WHEN p_run.plans <> jsonb_array_length(p_plans)
                         THEN format('it had %s plans and has %s now', p_run.plans, jsonb_array_length(p_plans))
                         ELSE coalesce('p' || substr(rtrim(left(v_difference, 120), '.'), 2), 'it has as many plans, in another form') END
        USING ERRCODE = 'S9008',
              DETAIL = coalesce(v_difference, 'Each plan prints as it did.'),
              HINT = 'Build the list from the run''s date and arguments only. To start over: SELECT cs9.discard_run(task, run_key).',
              SCHEMA = 'cs9', TABLE = 'plan';
END;
$check_same_plans$;
COMMENT ON FUNCTION cs9.check_same_plans(cs9.run, jsonb) IS 'Refuses a plan list that differs from the first attempt''s';
