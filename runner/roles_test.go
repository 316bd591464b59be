package runner_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// TestRolesAreEnough runs a task as a login that has the generated roles and
// nothing else: with both it runs and publishes; as a runner alone it stages,
// and a publisher publishes.
func TestRolesAreEnough(t *testing.T) {
	f := &fixture{T: t, url: pgtest.NewDatabase(t, "../testdata/definitions/valid/roles.yaml")}
	f.conn = pgtest.Connect(t, f.url)
	as := func(name, roles string) *runner.Runner {
		t.Helper()
		name += "_" + pgtest.Scalar[string](t, f.conn, "SELECT current_database()") // roles are the server's
		f.exec("CREATE ROLE " + name + " LOGIN PASSWORD 'secret' IN ROLE " + roles)
		u, err := url.Parse(f.url)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(name, "secret")
		r, err := runner.New(pgtest.Pool(t, u.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	type row struct{ Week, N int }
	task := func(n int) runner.Task[int, any] {
		return runner.Task[int, any]{
			Name:   "guarded",
			Tables: runner.Tables{"guarded": "demo.guarded"},
			Plans:  func(context.Context, runner.Run) ([]int, error) { return []int{1, 2}, nil },
			Action: func(ctx context.Context, _ any, a runner.Args[int], tables runner.Handles) error {
				if a.FirstAnalysis {
					return tables["guarded"].DropAllRows(ctx)
				}
				if _, err := tables["guarded"].NRow(ctx); err != nil {
					return err
				}
				return tables["guarded"].Insert(ctx, runner.Rows([]row{{Week: n, N: n}}))
			},
		}
	}
	if _, err := task(1).Run(t.Context(), as("roles_both", "demo_runner, demo_publisher"), runner.RunKey("both")); err != nil {
		t.Fatal(err)
	}
	f.want("1", "SELECT string_agg(n::text, ',') FROM demo.guarded")

	alone := as("roles_runner", "demo_runner")
	result, err := task(2).Run(t.Context(), alone, runner.RunKey("runner"))
	if err != nil || result.Outcome != runner.Ready || result.RowsStaged != 1 || result.RowsPublished != 0 {
		t.Errorf("a runner alone: %+v, %v", result, err)
	}
	if result != nil && !strings.Contains(result.String(), "cs9gen publish guarded runner") {
		t.Errorf("it does not say what is next: %s", result)
	}
	f.want("ready false", "SELECT state || ' ' || owner_alive FROM cs9.run_status WHERE run_key = 'runner'")
	if result, err = task(2).Run(t.Context(), alone, runner.RunKey("runner")); err != nil || result.Outcome != runner.Ready {
		t.Errorf("a runner alone, again: %+v, %v", result, err)
	}
	// proven work is not thrown away, and a runner alone cannot publish it
	_, err = task(3).Run(t.Context(), alone, runner.RunKey("next"))
	if !errors.Is(err, runner.ErrNotReady) || !strings.Contains(err.Error(), "must be published before another one begins") {
		t.Errorf("a runner alone, with a new key: %v", err)
	}
	if _, err := as("roles_publisher", "demo_publisher").Publish(t.Context(), "guarded", "runner"); err != nil {
		t.Error(err)
	}
	f.want("2", "SELECT string_agg(n::text, ',') FROM demo.guarded")
}
