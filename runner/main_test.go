package runner_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		childMain(url)
	}
	pgtest.Main(m, pgtest.NoGoroutineLeft)
}

const definitions = "testdata/tables.yaml"

// fixture is a database with the test tables, and a runner for it.
type fixture struct {
	*testing.T
	url    string
	conn   *pgx.Conn
	runner *runner.Runner

	mu     sync.Mutex
	events []runner.Progress
}

func newFixture(t *testing.T, change ...func(*runner.Config)) *fixture {
	t.Helper()
	return newFixtureOf(t, pgtest.NewDatabase(t, definitions), change...)
}

func newFixtureOf(t *testing.T, url string, change ...func(*runner.Config)) *fixture {
	t.Helper()
	f := &fixture{T: t, url: url, conn: pgtest.Connect(t, url)}
	f.runner = f.newRunner(change...)
	return f
}

func (f *fixture) newRunner(change ...func(*runner.Config)) *runner.Runner {
	f.Helper()
	cfg := &runner.Config{
		Logger:     slog.New(slog.NewTextHandler(io.Discard, nil)),
		AliveGrace: 10 * time.Second,
		Progress: func(p runner.Progress) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.events = append(f.events, p)
		},
	}
	for _, c := range change {
		c(cfg)
	}
	r, err := runner.New(pgtest.Pool(f.T, f.url), cfg)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

func (f *fixture) exec(statements ...string) {
	f.Helper()
	pgtest.Exec(f.T, f.conn, statements...)
}

// want checks the one value of a query, as text.
func (f *fixture) want(want, query string, args ...any) {
	f.Helper()
	if got := pgtest.Scalar[*string](f.T, f.conn, query, args...); got == nil || *got != want {
		shown := "NULL"
		if got != nil {
			shown = *got
		}
		f.Errorf("%s\ngot  %s\nwant %s", query, shown, want)
	}
}

// wantCounts checks the live table anon.counts: "week region n" of each row.
func (f *fixture) wantCounts(want string) {
	f.Helper()
	f.want(want, "SELECT coalesce(string_agg(concat_ws(' ', week, region, n), ', ' ORDER BY week, region), '') FROM anon.counts")
}

func (f *fixture) wantIs(err error, sentinel error) {
	f.Helper()
	var typed *runner.Error
	if !errors.Is(err, sentinel) || !errors.As(err, &typed) {
		f.Errorf("got the error %v; want an *Error that is %v", err, sentinel)
	}
}

type count struct {
	Week   int
	Region string
	N      int
}

// step is what one plan of the test task does.
type step = func(ctx context.Context, run runner.Run, t runner.Handles) error

// stepsTask is a task whose plan i does steps[i-1].
func stepsTask(steps ...step) runner.Task[int, any] {
	return runner.Task[int, any]{
		Name:   "counts",
		Tables: runner.Tables{"counts": "anon.counts", "totals": "anon.totals"},
		Plans: func(context.Context, runner.Run) ([]int, error) {
			argsets := make([]int, len(steps))
			for i := range argsets {
				argsets[i] = i + 1
			}
			return argsets, nil
		},
		Action: func(ctx context.Context, _ any, a runner.Args[int], t runner.Handles) error {
			return steps[a.IndexPlan-1](ctx, a.Run, t)
		},
	}
}

// insert stages counts.
func insert(rows ...count) step {
	return func(ctx context.Context, _ runner.Run, t runner.Handles) error {
		return t["counts"].Insert(ctx, runner.Rows(rows))
	}
}

// clearAndInsert empties the table, and then inserts.
func clearAndInsert(rows ...count) step {
	return func(ctx context.Context, _ runner.Run, t runner.Handles) error {
		return t["counts"].DropAllRowsAndThenInsert(ctx, runner.Rows(rows))
	}
}

func nothing(context.Context, runner.Run, runner.Handles) error { return nil }

var errStep = errors.New("the plan failed on purpose")

func failing(context.Context, runner.Run, runner.Handles) error { return errStep }

// await asks the database until a query of the run that holds text is active.
func (f *fixture) await(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	for {
		var active bool
		err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE application_name LIKE 'cs9gen %' AND datname = current_database() AND state = 'active' AND position($1 IN query) > 0)`, text).Scan(&active)
		if err != nil || active {
			return err
		}
	}
}

// awaitGone asks the database until no session of a run is left: it notices a
// closed connection a moment later.
func (f *fixture) awaitGone() {
	f.Helper()
	for range 10_000 {
		if pgtest.Scalar[int](f.T, f.conn, `SELECT count(*) FROM pg_stat_activity
			WHERE application_name LIKE 'cs9gen %' AND datname = current_database()`) == 0 {
			return
		}
	}
	f.Error("a session of the run is left")
}

func (f *fixture) mustRun(task runner.Task[int, any], opts ...runner.Option) *runner.Result {
	f.Helper()
	result, err := task.Run(f.Context(), f.runner, opts...)
	if err != nil {
		f.Fatal(err)
	}
	return result
}

func (f *fixture) wantPlans(result *runner.Result, run, skipped []int) {
	f.Helper()
	if !slices.Equal(result.PlansRun, run) || !slices.Equal(result.PlansSkipped, skipped) {
		f.Errorf("plans run %v, skipped %v; want %v and %v", result.PlansRun, result.PlansSkipped, run, skipped)
	}
}
