-- A run driven by psql alone: it begins, fails in plan 3, resumes with the same run key, and is published.
--   psql -X -v ON_ERROR_STOP=1 -f run.sql
-- The table is that of counts.yaml. Each SELECT of a claim divides by zero when the claim does not hold.
\set ON_ERROR_STOP 1

INSERT INTO anon.anon_rebuild_counts (week, region, n)
SELECT w, 'north', 0 FROM generate_series(1, 5) AS w;

\echo attempt 1: plan 1 empties the table, plan 3 fails
SELECT * FROM cs9.begin_run('rebuild', 'week 40', '{anon.anon_rebuild_counts}', '[{"week": 1}, {"week": 2}, {"week": 3}]') \gset
SELECT 1 / (:'outcome' = 'new')::integer AS begins_new;

SELECT cs9.begin_plan(:run_id, 1, :attempt);
SELECT cs9.drop_all_rows('anon.anon_rebuild_counts');
SELECT cs9.staging_table(:run_id, 'anon.anon_rebuild_counts') AS staged \gset
INSERT INTO :staged (week, region, n) VALUES (1, 'north', 11);
SELECT cs9.finish_plan(:run_id, 1, :attempt);

SELECT cs9.begin_plan(:run_id, 2, :attempt);
INSERT INTO :staged (week, region, n) VALUES (2, 'south', 12);
SELECT cs9.finish_plan(:run_id, 2, :attempt);

SELECT cs9.begin_plan(:run_id, 3, :attempt);
INSERT INTO :staged (week, region, n) VALUES (3, 'north', 13);
SELECT cs9.fail_plan(:run_id, 3, :attempt, 'the source was not there');
SELECT cs9.end_attempt(:run_id, :attempt, 'plan 3 failed');

SELECT 1 / (count(*) = 5 AND max(n) = 0)::integer AS readers_see_the_old_rows FROM anon.anon_rebuild_counts;

\echo a run whose plans are not done cannot be published: S9003
\set ON_ERROR_STOP 0
CALL cs9.publish('rebuild', 'week 40');
\set ON_ERROR_STOP 1
SELECT 1 / (:'LAST_ERROR_SQLSTATE' = 'S9003')::integer AS is_refused;

\echo attempt 2: plan 2 is skipped, plans 1 and 3 run again
SELECT * FROM cs9.begin_run('rebuild', 'week 40', '{anon.anon_rebuild_counts}', '[{"week": 1}, {"week": 2}, {"week": 3}]') \gset
SELECT 1 / (:'outcome' = 'resumed' AND :attempt = 2)::integer AS resumes;

SELECT 1 / cs9.begin_plan(:run_id, 1, :attempt)::integer AS plan_1_runs;
SELECT cs9.drop_all_rows('anon.anon_rebuild_counts');
INSERT INTO :staged (week, region, n) VALUES (1, 'north', 21);
SELECT cs9.finish_plan(:run_id, 1, :attempt);

SELECT 1 / (NOT cs9.begin_plan(:run_id, 2, :attempt))::integer AS plan_2_is_skipped;

SELECT 1 / cs9.begin_plan(:run_id, 3, :attempt)::integer AS plan_3_runs;
INSERT INTO :staged (week, region, n) VALUES (3, 'north', 23);
SELECT cs9.finish_plan(:run_id, 3, :attempt);

SELECT cs9.finish_run(:run_id, :attempt);
SELECT 1 / (count(*) = 5)::integer AS readers_still_see_the_old_rows FROM anon.anon_rebuild_counts;

\echo the publish, in batches of one row
CALL cs9.publish('rebuild', 'week 40', 1);

SELECT 1 / (array_agg((week, n)::text ORDER BY week) = ARRAY['(1,21)', '(2,12)', '(3,23)'])::integer AS each_row_once
FROM anon.anon_rebuild_counts;
SELECT 1 / (count(*) = 0)::integer AS nothing_is_left_over FROM pg_tables WHERE schemaname = 'cs9_staging';
SELECT plan, state, attempt, skipped, rows_staged FROM cs9.plan_status WHERE task = 'rebuild' ORDER BY plan;

\echo the same key again: nothing to do
SELECT 1 / (outcome = 'published')::integer AS says_so
FROM cs9.begin_run('rebuild', 'week 40', '{anon.anon_rebuild_counts}', '[{"week": 1}, {"week": 2}, {"week": 3}]');
