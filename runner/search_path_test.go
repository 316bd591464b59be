package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// TestRowsAreWrittenUnderTheSearchPathOfTheirTable: staged or at once, each table
// under its own, and one that names none under that of the session.
func TestRowsAreWrittenUnderTheSearchPathOfTheirTable(t *testing.T) {
	url := pgtest.NewDatabase(t)
	f := &fixture{T: t, url: url, conn: pgtest.Connect(t, url)}
	for i, schema := range []string{"one", "two", "session"} {
		f.exec("CREATE SCHEMA "+schema,
			fmt.Sprintf("CREATE FUNCTION %s.here() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT %d'", schema, i+1),
			fmt.Sprintf("CREATE FUNCTION %s.known(p integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN p > 0 AND here() = %d; END'", schema, i+1),
			fmt.Sprintf("CREATE FUNCTION %s.sum(p integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN p + here(); END'", schema))
	}
	const columns = `columns: [{name: k, type: integer}, {name: n, type: integer}, {name: g, type: integer, generated: %[1]s.sum(n)}], keys: [k], checks: {known: "%[1]s.known(n)"}`
	path := filepath.Join(t.TempDir(), "t.yaml")
	text := fmt.Sprintf("version: 1\ntables:\n  - {schema: one, name: t, search_path: [one], "+columns+"}\n", "one") +
		fmt.Sprintf("  - {schema: two, name: t, search_path: [pg_catalog, two], "+columns+"}\n", "two")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	pgtest.Install(t, url, path)
	f.exec(fmt.Sprintf("ALTER DATABASE %s SET search_path = session", pgtest.Scalar[string](t, f.conn, "SELECT current_database()")))
	f.runner = f.newRunner()

	type row struct{ K, N int }
	task := runner.Task[int, any]{
		Name:   "paths",
		Tables: runner.Tables{"one": "one.t", "two": "two.t"},
		Plans:  func(context.Context, runner.Run) ([]int, error) { return []int{1, 2}, nil },
		Action: func(ctx context.Context, _ any, a runner.Args[int], tables runner.Handles) error {
			for _, name := range []string{"one", "two", "one"} {
				if err := tables[name].Upsert(ctx, runner.Rows([]row{})); err != nil {
					return err
				}
			}
			if err := tables["one"].Insert(ctx, runner.Rows([]row{{a.Value, 10}})); err != nil {
				return err
			}
			return tables["two"].Upsert(ctx, runner.Rows([]row{{a.Value, 10}}))
		},
	}
	const rows = "SELECT string_agg(format('%s %s', k, g), ', ' ORDER BY k) FROM "
	for key, opts := range modes {
		f.exec("TRUNCATE one.t, two.t")
		if _, err := task.Run(t.Context(), f.runner, opts...); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		f.want("1 11, 2 11", rows+"one.t")
		f.want("1 12, 2 12", rows+"two.t")
	}
}
