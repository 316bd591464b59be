package matrix

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

var update = flag.Bool("update", false, "write docs/values.md anew")

func TestMain(m *testing.M) {
	pgtest.Main(m, pgtest.NoGoroutineLeft)
}

// modes are the ways a write becomes live; direct is a run without a run key.
var modes = []string{"direct", "batched", "atomic", "swap"}

// options are those of a run in a mode.
func options(mode, key string) []runner.Option {
	if mode == "direct" {
		return nil
	}
	return []runner.Option{runner.RunKey(key), runner.PublishMode(mode)}
}

func newRunner(t *testing.T, url string) *runner.Runner {
	t.Helper()
	r, err := runner.New(pgtest.Pool(t, url), &runner.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// step is what one plan does.
type step = func(ctx context.Context, tables runner.Handles) error

// task is a task whose plan i does steps[i-1].
func task(name string, tables runner.Tables, steps ...step) runner.Task[int, any] {
	return runner.Task[int, any]{
		Name:   name,
		Tables: tables,
		Plans: func(context.Context, runner.Run) ([]int, error) {
			argsets := make([]int, len(steps))
			for i := range argsets {
				argsets[i] = i + 1
			}
			return argsets, nil
		},
		Action: func(ctx context.Context, _ any, a runner.Args[int], tables runner.Handles) error {
			return steps[a.IndexPlan-1](ctx, tables)
		},
	}
}

// writeDefinition writes a definition file with these tables, each as YAML.
func writeDefinition(t *testing.T, tables ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	text := "version: 1\ntables:\n" + strings.Join(tables, "")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// execAll runs statements in one message.
func execAll(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), strings.Join(statements, ";\n")).ReadAll(); err != nil {
		t.Fatal(err)
	}
}
