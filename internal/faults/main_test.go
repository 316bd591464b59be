package faults_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

func TestMain(m *testing.M) {
	pgtest.Main(m, pgtest.NoGoroutineLeft)
}

const definitions = "testdata/tables.yaml"

// fixture is a database with the test tables, and a patient runner for it.
type fixture struct {
	*testing.T
	url    string
	conn   *pgx.Conn
	runner *runner.Runner

	mu   sync.Mutex
	look *pgx.Conn // of want
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	return fixtureAt(t, pgtest.NewDatabase(t, definitions))
}

func fixtureAt(t *testing.T, url string) *fixture {
	t.Helper()
	f := &fixture{T: t, url: url, conn: pgtest.Connect(t, url), look: pgtest.Connect(t, url)}
	f.runner = f.newRunner()
	return f
}

// newRunner returns a runner of the database; changes come after the defaults.
func (f *fixture) newRunner(change ...func(*runner.Config)) *runner.Runner {
	f.Helper()
	return f.runnerAt(f.url, change...)
}

func (f *fixture) runnerAt(url string, change ...func(*runner.Config)) *runner.Runner {
	f.Helper()
	cfg := &runner.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), AliveGrace: 10 * time.Second}
	for _, c := range change {
		c(cfg)
	}
	r, err := runner.New(pgtest.Pool(f.T, url), cfg)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// atOnce makes a start fail at once when the task is owned.
func atOnce(c *runner.Config) { c.AliveGrace = -1 }

// noPatience makes a publish stop at the first lock.
func noPatience(c *runner.Config) { c.LockTimeout, c.LockRetries = 50*time.Millisecond, -1 }

func (f *fixture) exec(statements ...string) {
	f.Helper()
	pgtest.Exec(f.T, f.conn, statements...)
}

// session is another client of the database.
func (f *fixture) session(statements ...string) *pgx.Conn {
	f.Helper()
	conn := pgtest.Connect(f.T, f.url)
	pgtest.Exec(f.T, conn, statements...)
	return conn
}

// want checks the one value of a query, as text.
func (f *fixture) want(want, query string, args ...any) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	got := pgtest.Scalar[*string](f.T, f.look, query, args...)
	if got == nil || *got != want {
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

// wantClean checks that every run has ended and has left nothing behind.
func (f *fixture) wantClean() {
	f.Helper()
	f.want("0", "SELECT count(*)::text FROM cs9.run WHERE state IN ('running', 'ready', 'publishing')")
	f.want("0", "SELECT count(*)::text FROM pg_tables WHERE schemaname = 'cs9_staging'")
	f.want("0", "SELECT count(*)::text FROM cs9.publish_step AS s JOIN cs9.run AS r USING (run_id) WHERE r.state = 'published' AND s.state <> 'done'")
	f.want("0", "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
}

func (f *fixture) wantIs(err error, sentinel error) {
	f.Helper()
	var typed *runner.Error
	if !errors.Is(err, sentinel) || !errors.As(err, &typed) {
		f.Errorf("got the error %v; want an *Error that is %v", err, sentinel)
	}
}

func (f *fixture) wantState(err error, sqlState string) *runner.Error {
	f.Helper()
	var typed *runner.Error
	if !errors.As(err, &typed) || typed.SQLState != sqlState {
		f.Fatalf("got the error %v; want SQLSTATE %s", err, sqlState)
	}
	return typed
}

// awaitTrue asks the database until a query says true.
func (f *fixture) awaitTrue(query string, args ...any) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for start := time.Now(); ; {
		if pgtest.Scalar[bool](f.T, f.look, query, args...) {
			return
		}
		if time.Since(start) > 30*time.Second {
			f.Fatalf("not true within 30 s: %s", query)
		}
	}
}

const waitsFor = `SELECT EXISTS (SELECT FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
	WHERE d.datname = current_database() AND NOT l.granted AND l.relation = $1::regclass AND l.mode = $2)`

type count struct {
	Week   int
	Region string
	N      int
}

// step is what one plan of a test task does.
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

// named gives a task another name.
func named(name string, task runner.Task[int, any]) runner.Task[int, any] {
	task.Name = name
	return task
}

func insert(rows ...count) step {
	return func(ctx context.Context, _ runner.Run, t runner.Handles) error {
		return t["counts"].Insert(ctx, runner.Rows(rows))
	}
}

func upsert(rows ...count) step {
	return func(ctx context.Context, _ runner.Run, t runner.Handles) error {
		return t["counts"].Upsert(ctx, runner.Rows(withNote(rows)))
	}
}

// clearAndInsert empties the table, and then inserts.
func clearAndInsert(rows ...count) step {
	return func(ctx context.Context, _ runner.Run, t runner.Handles) error {
		return t["counts"].DropAllRowsAndThenInsert(ctx, runner.Rows(rows))
	}
}

// noted is a whole row of anon.counts, as an upsert needs it.
type noted struct {
	Week   int
	Region string
	N      int
	Note   *string
}

func withNote(rows []count) []noted {
	all := make([]noted, len(rows))
	for i, r := range rows {
		all[i] = noted{r.Week, r.Region, r.N, nil}
	}
	return all
}

// series are rows of one region, weeks from..to.
func series(region string, from, to, n int) []count {
	var rows []count
	for w := from; w <= to; w++ {
		rows = append(rows, count{w, region, n})
	}
	return rows
}

func nothing(context.Context, runner.Run, runner.Handles) error { return nil }

var errStep = errors.New("the plan failed on purpose")

func failing(context.Context, runner.Run, runner.Handles) error { return errStep }

func (f *fixture) mustRun(task runner.Task[int, any], opts ...runner.Option) *runner.Result {
	f.Helper()
	result, err := task.Run(f.Context(), f.runner, opts...)
	if err != nil {
		f.Fatal(err)
	}
	return result
}

// stoppedPublish leaves a run whose publish a reader of anon.counts stopped
// before its first step, as a killed process would.
func (f *fixture) stoppedPublish(task runner.Task[int, any], key string) {
	f.Helper()
	reader := f.session("BEGIN", "LOCK TABLE anon.counts IN ACCESS SHARE MODE")
	_, err := task.Run(f.Context(), f.newRunner(noPatience), runner.RunKey(key))
	f.wantIs(err, runner.ErrPublishStopped)
	f.want("publishing false", "SELECT state || ' ' || owner_alive FROM cs9.run_status WHERE run_key = $1 AND is_current", key)
	pgtest.Exec(f.T, reader, "ROLLBACK")
}
