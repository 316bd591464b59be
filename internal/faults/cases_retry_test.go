package faults_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// Whichever plan fails, before or after it staged, in whichever attempt, a retry
// stages each plan's rows once.
func TestCase07RetryDoesNotDoubleWhatAFailedAttemptStaged(t *testing.T) {
	for _, failAt := range []int{0, 2, 3} {
		t.Run(fmt.Sprintf("plan %d fails", failAt+1), func(t *testing.T) { failTwice(t, failAt) })
	}
}

func failTwice(t *testing.T, failAt int) {
	f := newFixture(t)
	fail := true
	write := func(plan int) step {
		return func(ctx context.Context, run runner.Run, h runner.Handles) error {
			if err := insert(series(string(rune('a'+plan)), 1, 10, 1)...)(ctx, run, h); err != nil {
				return err
			}
			if plan == failAt && fail {
				return errStep // what it staged is there
			}
			return nil
		}
	}
	task := stepsTask(write(0), write(1), write(2), write(3))
	for attempt := 1; attempt <= 2; attempt++ {
		_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
		f.wantIs(err, errStep)
		f.wantCounts("")
	}
	fail = false
	result := f.mustRun(task, runner.RunKey("k"))
	if result.RowsStaged != 40 || result.RowsPublished != 40 || result.Attempt != 3 {
		t.Errorf("plan %d failed: %+v", failAt+1, result)
	}
	f.want("40 40", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.want("10", "SELECT string_agg(DISTINCT rows_staged::text, ' ') FROM cs9.plan_status")
	f.wantClean()
}

// The old attempt's last words come after the new one has published.
func TestCase08SlowFirstAttemptCannotWriteAfterTheFastOnePublished(t *testing.T) {
	f := newFixture(t)
	f.exec("SELECT cs9.begin_run('counts', 'k', ARRAY['anon.counts', 'anon.totals'], '[[1], [2]]')")
	worker := f.session("SELECT cs9.begin_plan(1, 1, 1)")
	staged := pgtest.Scalar[string](t, worker, "SELECT cs9.staging_table(1, 'anon.counts')")
	f.exec("SELECT cs9.release_run('counts')") // as when its process hung and its session was ended
	task := stepsTask(insert(count{1, "a", 1}), insert(count{2, "a", 1}))
	f.mustRun(task, runner.RunKey("k"))
	for sql, state := range map[string]string{
		"INSERT INTO " + staged + " (week, region, n) VALUES (3, 'late', 1)": "42P01", // its table is gone
		"SELECT cs9.staging_table(1, 'anon.counts')":                         "S9004",
		"SELECT cs9.finish_plan(1, 1, 1)":                                    "S9004",
		"SELECT cs9.finish_run(1, 1)":                                        "S9004",
		"CALL cs9.publish('counts', 'k')":                                    "S9004",
	} {
		if _, err := worker.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), state) {
			t.Errorf("%s: %v; want %s", sql, err, state)
		}
	}
	f.wantCounts("1 a 1, 2 a 1")
	f.wantClean()
}

// The counter says what is committed, and a resumed publish goes on from there.
func TestCase11ProgressCountsTheRowsThatAreCommitted(t *testing.T) {
	f := newFixture(t)
	task := stepsTask(insert(series("a", 1, 30, 1)...), nothing)
	f.exec("CREATE FUNCTION public.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$",
		"CREATE TRIGGER stop BEFORE INSERT ON anon.counts FOR EACH ROW WHEN (NEW.week IN (15, 25)) EXECUTE FUNCTION public.stop()")
	for range 2 {
		_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"), runner.BatchRows(10))
		f.wantState(err, "P0001")
		f.want("10 10", "SELECT (SELECT count(*) FROM anon.counts) || ' ' || (SELECT rows_published FROM cs9.run_status)")
	}
	f.exec("DROP TRIGGER stop ON anon.counts",
		"CREATE TRIGGER stop BEFORE INSERT ON anon.counts FOR EACH ROW WHEN (NEW.week = 25) EXECUTE FUNCTION public.stop()")
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"), runner.BatchRows(10))
	f.wantState(err, "P0001")
	f.want("20 20", "SELECT (SELECT count(*) FROM anon.counts) || ' ' || (SELECT rows_published FROM cs9.run_status)")
	f.exec("DROP TRIGGER stop ON anon.counts")
	if result := f.mustRun(task, runner.RunKey("k")); result.RowsPublished != 30 {
		t.Errorf("result %+v", result)
	}
	f.want("30 30", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
}

// Neither the clock nor the time zone of a later attempt's session matters.
func TestCase12RetryAfterMidnightSeesTheFirstDate(t *testing.T) {
	f := newFixture(t)
	var days []string
	task := func(s step) runner.Task[int, any] {
		return stepsTask(insert(count{1, "a", 1}), func(ctx context.Context, run runner.Run, h runner.Handles) error {
			days = append(days, run.Today().Format(time.DateOnly))
			return s(ctx, run, h)
		}, nothing)
	}
	at := func(clock, zone string) *runner.Runner {
		now, err := time.Parse(time.RFC3339, clock)
		if err != nil {
			t.Fatal(err)
		}
		return f.runnerAt(f.url+"&timezone="+zone, func(c *runner.Config) { c.Now = func() time.Time { return now } })
	}
	_, err := task(failing).Run(t.Context(), at("2026-01-02T23:59:00+01:00", "Europe/Oslo"), runner.RunKey("2026-01-02"))
	f.wantIs(err, errStep)
	_, err = task(failing).Run(t.Context(), at("2026-01-03T00:05:00+01:00", "Pacific/Kiritimati"), runner.RunKey("2026-01-02"))
	f.wantIs(err, errStep)
	_, err = task(nothing).Run(t.Context(), at("2026-01-04T00:05:00-11:00", "Pacific/Pago_Pago"), runner.RunKey("2026-01-02"))
	if err != nil {
		t.Error(err)
	}
	if got := strings.Join(days, " "); got != "2026-01-02 2026-01-02 2026-01-02" {
		t.Errorf("the plans saw %s", got)
	}
	f.want("2026-01-02", "SELECT today::text FROM cs9.run_status")
}

// A run is alive as long as its session, and not a moment longer: however old.
func TestCase38OwnershipIsALiveSessionAndNotAnAge(t *testing.T) {
	f := newFixture(t)
	begin := "SELECT cs9.begin_run('counts', 'k', ARRAY['anon.counts', 'anon.totals'], '[[1], [2]]')"
	const old = "UPDATE cs9.run SET begun_at = now() - interval '30 days', attempt_at = now() - interval '30 days'"
	task := stepsTask(insert(count{1, "a", 1}), nothing)
	owner := f.session(begin, old)
	_, err := task.Run(t.Context(), f.newRunner(atOnce), runner.RunKey("k"))
	f.wantIs(err, runner.ErrRunAlive)
	f.want("true", "SELECT owner_alive::text FROM cs9.run_status")
	f.want("true", "SELECT pg_terminate_backend($1::text::integer, 10000)::text", pgtest.Scalar[string](t, owner, "SELECT pg_backend_pid()::text"))
	f.want("false", "SELECT owner_alive::text FROM cs9.run_status")
	result, err := task.Run(t.Context(), f.newRunner(atOnce), runner.RunKey("k")) // at once
	if err != nil || result.Attempt != 2 {
		t.Errorf("result %+v, %v", result, err)
	}
	f.wantCounts("1 a 1")
}

// A run is (task, run key), whatever the key looks like; and it is one list of
// plans over one set of tables.
func TestCase39ARunKeyNamesOneRunOfOneTask(t *testing.T) {
	f := newFixture(t)
	keys := []string{"manual__2026-01-02T00:00:00+00:00", "a'b\"c\\d;-- å" + strings.Repeat("x", 290), "K", "k"}
	for i, key := range keys {
		for _, name := range []string{"A", "a"} {
			f.mustRun(named(name, stepsTask(insert(count{i, name, 1}), nothing)), runner.RunKey(key))
		}
	}
	f.want("8 8", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.want("8", "SELECT count(*)::text FROM cs9.run_status WHERE state = 'published'")
	for _, key := range []string{"", " ", strings.Repeat("k", 3000), "a\x00b"} {
		if _, err := stepsTask(nothing).Run(t.Context(), f.runner, runner.RunKey(key)); err == nil {
			t.Errorf("the key %.20q was accepted", key)
		}
	}

	_, err := stepsTask(insert(count{99, "x", 1}), failing, nothing).Run(t.Context(), f.runner, runner.RunKey("changed"))
	f.wantIs(err, errStep)
	for what, plans := range map[string][]int{"a plan less": {1, 2}, "a plan more": {1, 2, 3, 4}, "another order": {1, 3, 2}, "another plan": {1, 2, 9}} {
		task := stepsTask(nothing)
		task.Plans = func(context.Context, runner.Run) ([]int, error) { return plans, nil }
		if _, err := task.Run(t.Context(), f.runner, runner.RunKey("changed")); err == nil || !strings.Contains(err.Error(), "S9008") {
			t.Errorf("%s: %v", what, err)
		}
	}
	task := stepsTask(nothing, nothing, nothing)
	task.Tables = runner.Tables{"counts": "anon.counts"}
	_, err = task.Run(t.Context(), f.runner, runner.RunKey("changed"))
	f.wantIs(err, runner.ErrTablesChanged)
	if result := f.mustRun(named("A", stepsTask(failing)), runner.RunKey("k")); result.Outcome != runner.AlreadyPublished {
		t.Errorf("a published key: %+v", result)
	}
}
