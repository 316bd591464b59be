package runner_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/runner"
)

// counter counts the statements that a run sends, by the cs9 routine they call.
type counter struct {
	mu    sync.Mutex
	calls map[string]int
	all   int
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all++
	if _, call, ok := strings.Cut(data.SQL, "cs9."); ok {
		name, _, _ := strings.Cut(call, "(")
		c.calls[name]++
	}
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// counted runs a task of empty plans, those in fails fail.
func (f *fixture) counted(key string, plans, cores int, fails ...int) *counter {
	f.Helper()
	config, err := pgxpool.ParseConfig(f.url)
	if err != nil {
		f.Fatal(err)
	}
	c := &counter{calls: map[string]int{}}
	config.ConnConfig.Tracer = c
	pool, err := pgxpool.NewWithConfig(f.Context(), config)
	if err != nil {
		f.Fatal(err)
	}
	defer pool.Close()
	r, err := runner.New(pool, nil)
	if err != nil {
		f.Fatal(err)
	}
	steps := make([]step, plans)
	for i := range steps {
		steps[i] = nothing
	}
	for _, plan := range fails {
		steps[plan-1] = failing
	}
	task := stepsTask(steps...)
	task.Cores = cores
	if _, err := task.Run(f.Context(), r, runner.RunKey(key)); (err != nil) != (len(fails) > 0) {
		f.Fatal(err)
	}
	return c
}

func (f *fixture) wantCalls(c *counter, begin, next, finish, fail int) {
	f.Helper()
	got := [4]int{c.calls["begin_plan"], c.calls["next_plan"], c.calls["finish_plan"], c.calls["fail_plan"]}
	if want := [4]int{begin, next, finish, fail}; got != want {
		f.Errorf("calls of begin_plan, next_plan, finish_plan, fail_plan: %v, want %v", got, want)
	}
}

func TestAPlanCostsOneStatement(t *testing.T) {
	f := newFixture(t)
	few, many := f.counted("few", 10, 1), f.counted("many", 60, 1)
	f.wantCalls(many, 1, 59, 1, 0)
	if more := many.all - few.all; more != 50 {
		t.Errorf("50 more plans cost %d more statements", more)
	}
	f.want("60", "SELECT count(*)::text FROM cs9.plan_status WHERE run_key = 'many' AND state = 'done'")

	f.wantCalls(f.counted("one", 1, 3), 1, 0, 1, 0)
	f.wantCalls(f.counted("two", 2, 3), 1, 1, 1, 0)
	f.wantCalls(f.counted("three", 3, 3), 1, 2, 1, 0)
}

func TestPlansOnSeveralConnectionsCostOneStatementEach(t *testing.T) {
	f := newFixture(t)
	c := f.counted("k", 60, 3)
	// plan 1, the last one, and each connection begin once; one that comes late may find no plan
	begun := c.calls["begin_plan"]
	if begun < 3 || begun > 5 {
		t.Errorf("%d plans were begun by a statement of their own", begun)
	}
	f.wantCalls(c, begun, 60-begun, begun, 0)
	f.want("60", "SELECT count(*)::text FROM cs9.plan_status WHERE state = 'done'")
}

func TestARetrySkipsPlansAndGoesOn(t *testing.T) {
	f := newFixture(t)
	f.wantCalls(f.counted("k", 9, 1, 6), 1, 5, 0, 1)
	// 1, then 2 to 5 are skipped, 6 to 9 run: next_plan finds 2 done, begin_plan 3 to 5
	f.wantCalls(f.counted("k", 9, 1), 5, 4, 1, 0)
	f.want("1 2, 2 1, 3 1, 4 1, 5 1, 6 2, 7 2, 8 2, 9 2", "SELECT string_agg(plan || ' ' || attempt, ', ' ORDER BY plan) FROM cs9.plan_status")
}
