package runner_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

func TestP8SecondStartIsRefusedWhileTheFirstIsAlive(t *testing.T) {
	f := newFixture(t)
	second := f.newRunner(func(c *runner.Config) { c.AliveGrace = -1 })
	task := stepsTask(insert(count{1, "a", 1}), func(ctx context.Context, _ runner.Run, _ runner.Handles) error {
		for _, key := range []string{"k", "other"} {
			_, err := stepsTask(failing, nothing).Run(ctx, second, runner.RunKey(key))
			f.wantIs(err, runner.ErrRunAlive)
		}
		_, err := second.Publish(ctx, "counts", "k")
		f.wantIs(err, runner.ErrRunAlive)
		f.wantIs(second.Discard(ctx, "counts", "k", true), runner.ErrRunAlive)
		f.want("true", "SELECT owner_alive::text FROM cs9.run_status")
		return nil
	})
	f.mustRun(task, runner.RunKey("k"))
	f.wantCounts("1 a 1")
}

func TestP8GraceOutlivesAProcessThatHasJustDied(t *testing.T) {
	f := newFixture(t)
	dying, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, dying, "SELECT cs9.claim_run('counts', 'k')")
	ended := make(chan error, 1)
	go func() {
		// the session ends once the start has asked for the task
		_, err := f.conn.Exec(t.Context(), `DO $$ BEGIN
			WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'cs9gen counts' AND query LIKE '%claim_run%') LOOP
				PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
			END LOOP; END $$`)
		ended <- errors.Join(err, dying.Close(t.Context()))
	}()
	result, err := stepsTask(insert(count{1, "a", 1})).Run(t.Context(), f.runner, runner.RunKey("k"))
	if endErr := <-ended; err != nil || endErr != nil || result.Outcome != runner.Published {
		t.Errorf("run: %v; end: %v", err, endErr)
	}
}

func TestP8LostOwnerStopsBeforeTheNextWrite(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	var writeErr error
	task := stepsTask(clearAndInsert(count{1, "a", 1}), func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		// the only session that listens is the owner's
		f.want("true", "SELECT pg_terminate_backend(cs9.task_owner(task_id))::text FROM cs9.task")
		<-ctx.Done()
		// a context of its own must not help
		writeErr = insert(count{2, "a", 2})(context.WithoutCancel(ctx), run, tables)
		return writeErr
	}, nothing)
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(writeErr, runner.ErrNotOwner)
	f.wantIs(err, runner.ErrNotOwner)
	f.wantCounts("0 old 7")
	f.mustRun(stepsTask(clearAndInsert(count{1, "a", 1}), insert(count{2, "a", 2}), nothing), runner.RunKey("k"))
	f.wantCounts("1 a 1, 2 a 2")
}

func TestP8LockThatWentElsewhereStopsTheRun(t *testing.T) {
	f := newFixture(t, func(c *runner.Config) { c.Heartbeat = time.Second })
	// what a proxy that swaps sessions does: the connection is fine, the lock is not there
	f.exec(`CREATE OR REPLACE FUNCTION cs9.owns_task(p_task_id integer) RETURNS boolean LANGUAGE sql STABLE AS
			$$ SELECT NOT EXISTS (SELECT FROM cs9.plan WHERE state = 'running' AND plan = 2) $$`)
	_, err := stepsTask(insert(count{1, "a", 1}), func(ctx context.Context, _ runner.Run, _ runner.Handles) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}, nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrNotOwner)
	if !strings.Contains(err.Error(), "no longer holds the lock") {
		t.Errorf("got %v", err)
	}
}

func TestP8StaleAttemptCannotStage(t *testing.T) {
	f := newFixture(t)
	// a later attempt begins in another session, although the lock should forbid it
	_, err := stepsTask(insert(count{1, "a", 1}), func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		f.exec("UPDATE cs9.run SET attempt = attempt + 1")
		return insert(count{2, "a", 2})(ctx, run, tables)
	}, nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrStaleAttempt)
	f.wantCounts("")
}

func TestParallelPlansHaveTheirOwnConnections(t *testing.T) {
	f := newFixture(t)
	var mu sync.Mutex
	pids := map[int]int{}
	together := make(chan struct{})
	waiting := 0
	middle := func(plan int) step {
		return func(ctx context.Context, run runner.Run, tables runner.Handles) error {
			rows, err := tables["counts"].Query(ctx, pidQuery)
			if err != nil {
				return err
			}
			pid, err := oneInt(rows)
			if err != nil {
				return err
			}
			mu.Lock()
			pids[plan] = pid
			if waiting++; waiting == 4 {
				close(together) // all four are running at once
			}
			mu.Unlock()
			select {
			case <-together:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			return insert(count{plan, "a", plan})(ctx, run, tables)
		}
	}
	task := stepsTask(clearAndInsert(count{1, "a", 1}), middle(2), middle(3), middle(4), middle(5), insert(count{6, "a", 6}))
	task.Cores = 4
	f.mustRun(task, runner.RunKey("k"))
	f.wantCounts("1 a 1, 2 a 2, 3 a 3, 4 a 4, 5 a 5, 6 a 6")
	distinct := map[int]bool{}
	for _, pid := range pids {
		distinct[pid] = true
	}
	if len(distinct) != 4 {
		t.Errorf("four plans at once had the sessions %v", pids)
	}
}

func TestFirstErrorStopsTheOtherPlans(t *testing.T) {
	f := newFixture(t)
	slow := func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		rows, err := tables["counts"].Query(ctx, sleepQuery)
		if err != nil {
			return err
		}
		_, err = oneInt(rows)
		return err
	}
	task := stepsTask(nothing, slow, func(ctx context.Context, _ runner.Run, _ runner.Handles) error {
		return errors.Join(f.await(ctx, "pg_sleep(60)"), errStep)
	}, nothing)
	task.Cores = 2
	before := goleak.IgnoreCurrent()
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
	goleak.VerifyNone(t, before)
	f.wantIs(err, errStep)
	var typed *runner.Error
	if errors.As(err, &typed); typed.Plan != 3 {
		t.Errorf("the error is that of plan %d: %v", typed.Plan, err)
	}
	f.want("done failed failed pending", "SELECT string_agg(state, ' ' ORDER BY plan) FROM cs9.plan_status")
}

func TestPoolOfOneCannotDeadlock(t *testing.T) {
	f := newFixture(t)
	cfg, err := pgxpool.ParseConfig(f.url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.MaxConns = 1
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // as behind a proxy that pools sessions
	hooks := 0
	var mu sync.Mutex
	cfg.AfterConnect = func(context.Context, *pgx.Conn) error { mu.Lock(); hooks++; mu.Unlock(); return nil }
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	taken, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Release()
	r, err := runner.New(pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	task := stepsTask(nothing, insert(count{1, "a", 1}), insert(count{2, "a", 2}), nothing)
	task.Cores = 8
	if _, err := task.Run(t.Context(), r, runner.RunKey("k")); err != nil {
		t.Fatal(err)
	}
	if hooks != 6 {
		t.Errorf("AfterConnect ran for %d connections, want the pool's one, the owner's, two of workers, and those that ask while the run is proved and published", hooks)
	}
	if got := pgtest.Scalar[string](t, taken, "SELECT coalesce(current_setting('cs9.run_id', true), 'unset')"); got != "unset" {
		t.Errorf("a setting leaked into the pool: %q", got)
	}
}

func TestPoolThatReachesTwoDatabasesIsRefused(t *testing.T) {
	f := newFixture(t)
	other := pgtest.NewDatabase(t, definitions)
	cfg, err := pgxpool.ParseConfig(f.url)
	if err != nil {
		t.Fatal(err)
	}
	otherCfg, err := pgxpool.ParseConfig(other)
	if err != nil {
		t.Fatal(err)
	}
	connections := 0
	cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if connections++; connections > 1 {
			c.Database = otherCfg.ConnConfig.Database
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r, err := runner.New(pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = stepsTask(insert(count{1, "a", 1})).Run(t.Context(), r, runner.RunKey("k"))
	f.wantIs(err, runner.ErrBadArgument)
	if !strings.Contains(err.Error(), "two databases") {
		t.Errorf("got %v", err)
	}
}

func TestCancelStopsTheRun(t *testing.T) {
	for _, keyed := range []bool{true, false} {
		f := newFixture(t)
		f.exec(oldRow)
		reason := errors.New("the operator said so")
		ctx, cancel := context.WithCancelCause(t.Context())
		task := stepsTask(insert(count{1, "a", 1}), func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
			done := make(chan error, 1)
			go func() {
				done <- f.await(t.Context(), "pg_sleep(60)")
				cancel(reason)
			}()
			rows, err := tables["counts"].Query(ctx, sleepQuery)
			if err == nil {
				_, err = oneInt(rows)
			}
			return errors.Join(err, <-done)
		}, nothing)
		var opts []runner.Option
		if keyed {
			opts = append(opts, runner.RunKey("k"))
		}
		_, err := task.Run(ctx, f.runner, opts...)
		f.wantIs(err, context.Canceled)
		f.wantIs(err, reason)
		if keyed {
			f.wantCounts("0 old 7")
			f.want("done failed pending", "SELECT string_agg(state, ' ' ORDER BY plan) FROM cs9.plan_status")
			f.want("true", "SELECT (error LIKE '%operator%')::text FROM cs9.run_status")
		}
		f.awaitGone()
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := stepsTask(nothing).Run(ctx, f.runner, runner.RunKey("k"))
	f.wantIs(err, context.Canceled)
}

func TestFunctionThatIgnoresTheCancelDoesNotFinish(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := stepsTask(insert(count{1, "a", 1}), func(context.Context, runner.Run, runner.Handles) error { cancel(); return nil }).
		Run(ctx, f.runner, runner.RunKey("k"))
	f.wantIs(err, context.Canceled)
	f.wantCounts("")
}

func TestPanicsBecomeErrors(t *testing.T) {
	f := newFixture(t)
	boom := errors.New("boom")
	rows := func(yield func(count, error) bool) {
		if yield(count{2, "a", 1}, nil) {
			panic(boom)
		}
	}
	for name, s := range map[string]step{
		"action": func(context.Context, runner.Run, runner.Handles) error { panic(boom) },
		"rows": func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
			return tables["counts"].Insert(ctx, runner.Seq(rows))
		},
	} {
		task := stepsTask(nothing, s, s, nothing)
		task.Cores = 2
		_, err := task.Run(t.Context(), f.runner, runner.RunKey(name))
		f.wantIs(err, boom)
		if !strings.Contains(err.Error(), "panic: boom") {
			t.Errorf("%s: %v", name, err)
		}
	}
	task := stepsTask(nothing)
	task.Plans = func(context.Context, runner.Run) ([]int, error) { panic(boom) }
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("planner"))
	f.wantIs(err, boom)
	f.wantCounts("")
}

func TestProgressTellsOfPlansAndBatches(t *testing.T) {
	f := newFixture(t)
	f.mustRun(stepsTask(clearAndInsert(count{1, "a", 1}, count{2, "a", 2}), insert(count{3, "a", 3})), runner.RunKey("k"), runner.BatchRows(2))
	var told []string
	for _, p := range f.events {
		text := string(p.Kind)
		if p.Kind == runner.PublishBatch {
			text = p.StepKind
		}
		told = append(told, text)
		if p.Task != "counts" || p.RunKey != "k" || p.RunID == 0 {
			t.Errorf("event without its run: %+v", p)
		}
	}
	want := []string{
		"run begun", "plan started", "plan finished", "plan started", "plan finished", "run proving", "run proved",
		"truncate", "move", "move", "close", "analyze", "run ended",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %v\nwant %v", told, want)
	}
}

func TestCallLeftBehindByAFunctionIsAnError(t *testing.T) {
	f := newFixture(t)
	ended := make(chan error, 1)
	_, err := stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		go func() {
			rows, err := tables["counts"].Query(context.WithoutCancel(ctx), sleepQuery)
			if err == nil {
				_, err = oneInt(rows)
			}
			ended <- err
		}()
		return f.await(ctx, "pg_sleep(60)")
	}).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrBadArgument)
	if left := <-ended; left == nil || !strings.Contains(err.Error(), "still under way") {
		t.Errorf("run: %v; call: %v", err, left)
	}
}

// childURL makes this test program a process that is killed in its second plan.
const childURL = "CS9GEN_RUNNER_TEST_CHILD"

func childMain(url string) {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		panic(err)
	}
	r, err := runner.New(pool, nil)
	if err != nil {
		panic(err)
	}
	task := stepsTask(insert(count{1, "child", 1}), func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		if err := insert(count{2, "child", 2})(ctx, run, tables); err != nil {
			return err
		}
		fmt.Println("staged")
		rows, err := tables["counts"].Query(ctx, sleepQuery)
		if err == nil {
			rows.Close()
		}
		return err
	}, nothing)
	_, err = task.Run(ctx, r, runner.RunKey("k"))
	panic(err)
}

func TestP8KilledProcessIsResumedAtOnce(t *testing.T) {
	f := newFixture(t)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childURL+"="+f.url)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "staged" {
	}
	if err := f.await(t.Context(), "pg_sleep(60)"); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	result := f.mustRun(stepsTask(insert(count{1, "a", 1}), insert(count{2, "a", 2}), nothing), runner.RunKey("k"))
	if result.Attempt != 2 {
		t.Errorf("attempt %d", result.Attempt)
	}
	f.wantCounts("1 a 1, 2 a 2")
}

// logged runs a task with a log of JSON, and returns its records of level WARN and above.
func (f *fixture) logged(ctx context.Context, task runner.Task[int, any]) (records []map[string]any, err error) {
	f.Helper()
	var out bytes.Buffer
	r := f.newRunner(func(c *runner.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	_, err = task.Run(ctx, r, runner.RunKey("k"))
	for line := range strings.Lines(out.String()) {
		record := map[string]any{}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			f.Fatal(err)
		}
		records = append(records, record)
	}
	return records, err
}

// A run that fails is one record of the log, with all that names it.
func TestLogSaysOnceThatARunFailed(t *testing.T) {
	f := newFixture(t)
	task := stepsTask(insert(count{1, "a", 1}), failing, failing, nothing)
	task.Cores = 2
	records, err := f.logged(t.Context(), task)
	f.wantIs(err, errStep)
	if len(records) != 1 || records[0]["level"] != "ERROR" || records[0]["msg"] != "run failed" || records[0]["task"] != "counts" || records[0]["run_key"] != "k" ||
		records[0]["plan"] == nil || !strings.Contains(fmt.Sprint(records[0]["error"]), "on purpose") {
		t.Errorf("records: %v", records)
	}
	last := f.events[len(f.events)-1]
	if last.Kind != runner.RunEnded || !errors.Is(last.Err, errStep) {
		t.Errorf("last event: %+v", last)
	}
}

// What a signal ends was cancelled, and did not fail: in the log, in the progress
// and in the database.
func TestACancelledRunDidNotFail(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	records, err := f.logged(ctx, stepsTask(func(ctx context.Context, _ runner.Run, _ runner.Handles) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}, nothing))
	f.wantIs(err, context.Canceled)
	if len(records) != 1 || records[0]["level"] != "WARN" || records[0]["msg"] != "run cancelled" {
		t.Errorf("records: %v", records)
	}
	var kinds []string
	for _, e := range f.events {
		kinds = append(kinds, string(e.Kind))
	}
	if got := strings.Join(kinds, ", "); got != "run begun, plan started, plan cancelled, run ended" {
		t.Errorf("told %s", got)
	}
	f.want("true true", `SELECT (SELECT error LIKE 'cancelled: %' FROM cs9.plan_status WHERE plan = 1)::text || ' ' || (error LIKE 'cancelled: %')::text FROM cs9.run_status`)
}
