package runner_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

func TestP10TablesMustBeRegistered(t *testing.T) {
	f := newFixture(t)
	f.exec("CREATE TABLE anon.plain (id int)")
	for _, table := range []string{"anon.plain", "anon.missing", "cs9.run", "cs9_staging.x", "anon.counts_staging", "no table", "a.b.c.d", "counts"} {
		for mode, opts := range modes {
			task := stepsTask(func(context.Context, runner.Run, runner.Handles) error { t.Error("a plan ran"); return nil })
			task.Tables = runner.Tables{"good": "anon.counts", "t": table}
			_, err := task.Run(t.Context(), f.runner, opts...)
			if !errors.Is(err, runner.ErrTableUnknown) || !strings.Contains(err.Error(), table) {
				t.Errorf("%s, %s: %v", table, mode, err)
			}
		}
	}
	f.want("0", "SELECT count(*)::text FROM cs9.run")
}

func TestDatabaseThatIsNotMigrated(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	r, err := runner.New(pgtest.Pool(t, url), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, opts := range modes {
		_, err = stepsTask(nothing).Run(t.Context(), r, opts...)
		if !errors.Is(err, runner.ErrNotMigrated) || !strings.Contains(err.Error(), "cs9gen migrate up") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := r.Runs(t.Context(), runner.RunFilter{}); !errors.Is(err, runner.ErrNotMigrated) {
		t.Errorf("Runs: %v", err)
	}
}

func TestSchemaOfAnotherVersion(t *testing.T) {
	f := newFixture(t)
	for version, says := range map[string]string{"0": "upgrade the database", "2": "upgrade this program"} {
		f.exec("UPDATE cs9.schema_version SET version = " + version)
		_, err := stepsTask(nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
		f.wantIs(err, runner.ErrSchemaVersion)
		if !strings.Contains(err.Error(), says) {
			t.Errorf("version %s: %v", version, err)
		}
	}
}

func TestServerThatCannotBeReached(t *testing.T) {
	f := newFixture(t)
	pool := pgtest.Pool(t, strings.Replace(f.url, "/test_", "/no_such_", 1))
	r, err := runner.New(pool, &runner.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stepsTask(nothing).Run(t.Context(), r, runner.RunKey("k"))
	var typed *runner.Error
	if !errors.As(err, &typed) || typed.SQLState != "3D000" {
		t.Errorf("got %v", err)
	}
}

// blockedPublish runs a task to a publish that a lock stops after its truncate.
func blockedPublish(f *fixture, key string) (*runner.Runner, runner.Task[int, any]) {
	f.Helper()
	f.exec(oldRow)
	impatient := f.newRunner(func(c *runner.Config) {
		c.LockTimeout, c.LockRetries = 50*time.Millisecond, -1
	})
	task := stepsTask(func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		if err := tables["totals"].DropAllRowsAndThenInsert(ctx, runner.Values([]string{"region", "n"}, [][]any{{"a", 1}})); err != nil {
			return err
		}
		return clearAndInsert(count{1, "a", 1}, count{2, "a", 2})(ctx, run, tables)
	}, nothing)
	tx := f.begin()
	f.execIn(tx, "LOCK TABLE anon.totals IN ACCESS SHARE MODE")
	_, err := task.Run(f.Context(), impatient, runner.RunKey(key))
	f.wantIs(err, runner.ErrPublishStopped)
	if err == nil || !strings.Contains(err.Error(), "run again with the same key to publish the rest") {
		f.Errorf("the error does not say what is next: %v", err)
	}
	f.want("publishing", "SELECT state FROM cs9.run_status WHERE run_key = $1", key)
	if err := tx.Rollback(f.Context()); err != nil {
		f.Fatal(err)
	}
	return impatient, task
}

func (f *fixture) begin() pgx.Tx {
	f.Helper()
	tx, err := pgtest.Connect(f.T, f.url).Begin(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return tx
}

func (f *fixture) execIn(tx pgx.Tx, sql string) {
	f.Helper()
	if _, err := tx.Exec(f.Context(), sql); err != nil {
		f.Fatal(err)
	}
}

func TestP7StoppedPublishIsFinishedByTheSameKey(t *testing.T) {
	f := newFixture(t)
	r, task := blockedPublish(f, "k")
	changed := stepsTask(nothing, nothing, nothing)
	_, err := changed.Run(t.Context(), r, runner.RunKey("k"))
	f.wantIs(err, runner.ErrPlansChanged)

	task.Action = func(context.Context, any, runner.Args[int], runner.Handles) error { t.Error("a plan ran"); return nil }
	result, err := task.Run(t.Context(), r, runner.RunKey("k"))
	if err != nil || result.Outcome != runner.PublishedRest || result.RowsPublished != 3 || len(result.PlansRun) != 0 {
		t.Errorf("result %+v, %v", result, err)
	}
	f.wantCounts("1 a 1, 2 a 2")
	f.want("1", "SELECT count(*)::text FROM anon.totals")
}

func TestP7NewKeyPublishesTheOlderRunFirst(t *testing.T) {
	f := newFixture(t)
	r, _ := blockedPublish(f, "older")
	result, err := stepsTask(insert(count{3, "a", 3})).Run(t.Context(), r, runner.RunKey("newer"))
	if err != nil || result.Outcome != runner.Published || result.PublishedOlder != "older" {
		t.Errorf("result %+v, %v", result, err)
	}
	f.wantCounts("1 a 1, 2 a 2, 3 a 3")
	f.want("published", "SELECT state FROM cs9.run_status WHERE run_key = 'older'")
}

// Work that is proved and waits for its publish is not thrown away.
func TestP7NewKeyPublishesAReadyOlderRunFirst(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	f.exec(
		"SELECT cs9.begin_run('counts', 'older', ARRAY['anon.counts', 'anon.totals'], '[[1], [2]]')",
		"SELECT cs9.begin_plan(1, 1, 1), cs9.drop_all_rows('anon.counts'), cs9.staging_table(1, 'anon.counts')",
	)
	f.exec("INSERT INTO " + pgtest.Scalar[string](t, f.conn, "SELECT cs9.staging_table(1, 'anon.counts')") + " (week, region, n) VALUES (1, 'a', 1)")
	f.exec("SELECT cs9.next_plan(1, 1, 1, NULL, 2)", "SELECT cs9.finish_plan(1, 2, 1)", "SELECT cs9.finish_run(1, 1)")
	f.want("ready", "SELECT state FROM cs9.run_status")
	f.exec("SELECT cs9.release_run('counts')")

	result := f.mustRun(stepsTask(insert(count{2, "a", 2}), nothing), runner.RunKey("newer"))
	if result.PublishedOlder != "older" {
		t.Errorf("result %+v", result)
	}
	f.wantCounts("1 a 1, 2 a 2")
}

func TestP7NewKeyRemovesWhatAnOlderRunStaged(t *testing.T) {
	f := newFixture(t)
	_, err := stepsTask(insert(count{1, "a", 1}), failing).Run(t.Context(), f.runner, runner.RunKey("older"))
	f.wantIs(err, errStep)
	f.mustRun(stepsTask(insert(count{2, "a", 2}), nothing), runner.RunKey("newer"))
	f.wantCounts("2 a 2")
	f.want("discarded", "SELECT state FROM cs9.run_status WHERE run_key = 'older'")
	f.want("0", "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'cs9_staging'")
}

func TestP7LostConnectionInThePublish(t *testing.T) {
	f := newFixture(t)
	rows := func(yield func(count, error) bool) {
		for i := range 1000 {
			if !yield(count{i, "a", 1}, nil) {
				return
			}
		}
	}
	var once bool
	killing := f.newRunner(func(c *runner.Config) {
		c.Progress = func(p runner.Progress) {
			if p.StepKind == "move" && !once {
				once = true
				pgtest.Exec(f.T, f.conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cs9gen counts' AND query LIKE 'CALL%'`)
			}
		}
	})
	task := stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		return tables["counts"].DropAllRowsAndThenInsert(ctx, runner.Seq(rows))
	})
	_, err := task.Run(t.Context(), killing, runner.RunKey("k"), runner.BatchRows(100))
	var typed *runner.Error
	if !errors.As(err, &typed) || !strings.Contains(err.Error(), "it publishes the rest of a publish that began") {
		t.Errorf("got %v", err)
	}
	f.awaitGone()
	result := f.mustRun(task, runner.RunKey("k"))
	if result.Outcome != runner.PublishedRest {
		t.Errorf("result: %+v", result)
	}
	f.want("1000", "SELECT sum(n)::text FROM anon.counts")
}

func TestPublishDiscardRunsAndShow(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	_, err := f.runner.Publish(ctx, "counts", "none")
	f.wantIs(err, runner.ErrRunUnknown)
	for _, ofARun := range []runner.Option{runner.RunKey("none"), runner.Again(), runner.AllowEmpty()} {
		_, err := f.runner.Publish(ctx, "counts", "none", ofARun)
		f.wantIs(err, runner.ErrBadArgument)
	}
	_, err = f.runner.Show(ctx, "counts", "none")
	f.wantIs(err, runner.ErrRunUnknown)
	f.wantIs(f.runner.Discard(ctx, "counts", "none", false), runner.ErrRunUnknown)

	_, err = stepsTask(insert(count{1, "a", 1}), failing).Run(ctx, f.runner, runner.RunKey("failed"))
	f.wantIs(err, errStep)
	_, err = f.runner.Publish(ctx, "counts", "failed")
	f.wantIs(err, runner.ErrNotReady)
	detail, err := f.runner.Show(ctx, "counts", "failed")
	if err != nil {
		t.Fatal(err)
	}
	if detail.State != "running" || *detail.OwnerAlive || len(detail.PlanList) != 2 || detail.PlanList[1].State != "failed" ||
		!strings.Contains(detail.PlanList[1].Error, "on purpose") || string(detail.PlanList[0].Argsets) != "[1]" || detail.Age < 0 {
		t.Errorf("detail: %+v", detail)
	}
	if err := f.runner.Discard(ctx, "counts", "failed", false); err != nil {
		t.Error(err)
	}

	blockedPublish(f, "k")
	f.wantIs(f.runner.Discard(ctx, "counts", "k", false), runner.ErrNotReady)
	result, err := f.runner.Publish(ctx, "counts", "k", runner.BatchRows(1))
	if err != nil || result.Outcome != runner.PublishedRest || result.RowsPublished != 3 {
		t.Errorf("publish: %+v, %v", result, err)
	}
	_, err = f.runner.Publish(ctx, "counts", "k")
	f.wantIs(err, runner.ErrPublished)
	f.wantIs(f.runner.Discard(ctx, "counts", "k", true), runner.ErrPublished)

	runs, err := f.runner.Runs(ctx, runner.RunFilter{})
	if err != nil || len(runs) != 2 || runs[0].RunKey != "k" || runs[1].State != "discarded" || runs[0].RowsPublished != 3 {
		t.Errorf("runs: %+v, %v", runs, err)
	}
	runs, err = f.runner.Runs(ctx, runner.RunFilter{Task: "counts", States: []string{"published"}, CurrentOnly: true, Limit: 1})
	if err != nil || len(runs) != 1 {
		t.Errorf("filtered: %+v, %v", runs, err)
	}
	detail, err = f.runner.Show(ctx, "counts", "k")
	if err != nil || len(detail.Steps) == 0 || detail.Steps[len(detail.Steps)-1].Kind != "analyze" || detail.EndedAt == nil {
		t.Errorf("steps: %+v, %v", detail, err)
	}
}

func TestHooksSeeTheRunAndCannotWrite(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	var order []string
	hook := func(name string, staged int64) func(context.Context, runner.Run, runner.Handles) error {
		return func(ctx context.Context, run runner.Run, tables runner.Handles) error {
			order = append(order, name)
			f.wantIs(tables["counts"].DropAllRows(ctx), runner.ErrBadArgument)
			f.wantIs(insert(count{9, "x", 1})(ctx, run, tables), runner.ErrBadArgument)
			n, err := tables["counts"].NRow(ctx)
			s, sErr := tables["counts"].Staged(ctx)
			if n != 1 || s != staged || run.Attempt() != 1 || run.ID() == 0 {
				t.Errorf("%s: %d rows, %d staged, %+v", name, n, s, run)
			}
			return errors.Join(err, sErr)
		}
	}
	task := stepsTask(func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		order = append(order, "plan")
		return insert(count{1, "a", 1})(ctx, run, tables)
	})
	task.Before, task.After = hook("before", 0), hook("after", 1)
	f.mustRun(task, runner.RunKey("k"))
	if got := strings.Join(order, " "); got != "before plan after" {
		t.Errorf("order: %s", got)
	}
	task.Before = failing
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k2"))
	f.wantIs(err, errStep)
}

func TestP7CancelInThePublish(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cancelling := f.newRunner(func(c *runner.Config) {
		c.LockTimeout = time.Minute // the publish waits for the lock below until it is cancelled
		c.Progress = func(p runner.Progress) {
			if p.StepKind == "move" {
				cancel()
			}
		}
	})
	task := stepsTask(func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		if err := tables["totals"].DropAllRowsAndThenInsert(ctx, runner.Values([]string{"region", "n"}, [][]any{{"a", 1}})); err != nil {
			return err
		}
		return clearAndInsert(count{1, "a", 1}, count{2, "a", 1}, count{3, "a", 1})(ctx, run, tables)
	}, nothing)
	tx := f.begin()
	f.execIn(tx, "LOCK TABLE anon.totals IN ACCESS SHARE MODE")
	_, err := task.Run(ctx, cancelling, runner.RunKey("k"), runner.BatchRows(1))
	f.wantIs(err, context.Canceled)
	if err == nil || !strings.Contains(err.Error(), "run again with the same key to publish the rest") {
		t.Errorf("got %v", err)
	}
	f.want("publishing f t", "SELECT concat_ws(' ', state, owner_alive, error LIKE '%cancel%') FROM cs9.run_status")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := task.Run(t.Context(), f.newRunner(func(c *runner.Config) { c.AliveGrace = -1 }), runner.RunKey("k"))
	if err != nil || result.Outcome != runner.PublishedRest {
		t.Errorf("result %+v, %v", result, err)
	}
	f.wantCounts("1 a 1, 2 a 1, 3 a 1")
}
