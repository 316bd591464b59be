package faults_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// Parallel plans under a small pool: each has its own session and its own rows,
// however many partitions the table has.
func TestCase40ParallelPlansDoNotMixTheirRows(t *testing.T) {
	f := newFixture(t)
	var mu sync.Mutex
	sessions := map[int]bool{}
	write := func(plan int) step {
		return func(ctx context.Context, _ runner.Run, h runner.Handles) error {
			rows := func(yield func(map[string]any, error) bool) {
				for id := range 50 {
					if !yield(map[string]any{"id": plan*100 + id, "kind": []string{"a b", "a_b", "A", "a", "1", "01"}[id%6]}, nil) {
						return
					}
				}
			}
			if err := h["t"].Insert(ctx, runner.Seq(rows)); err != nil {
				return err
			}
			own := pgtest.Scalar[int](t, f.session(), "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'cs9gen %' AND datname = current_database()")
			mu.Lock()
			defer mu.Unlock()
			sessions[own] = true
			return nil
		}
	}
	task := tableTask("anon.alike", nothing, write(1), write(2), write(3), write(4), write(5), write(6), nothing)
	task.Cores = 4
	f.mustRun(task, runner.RunKey("k"))
	for n := range sessions {
		if n > 5 {
			t.Errorf("%d sessions at once; want the owner's and one a core", n)
		}
	}
	f.want("300 300", "SELECT count(*) || ' ' || count(DISTINCT id) FROM anon.alike")
	f.want("0 50 50 50 50 50 50 0", "SELECT string_agg(rows_staged::text, ' ' ORDER BY plan) FROM cs9.plan_status")
}

// manyPartitions is a database with a table of n partitions, on a server of its
// own that takes few connections.
func manyPartitions(t *testing.T, n, connections int) *fixture {
	t.Helper()
	t.Parallel()
	server, err := pgserver.Start(t.Context(), &pgserver.Config{Settings: map[string]string{"max_connections": fmt.Sprint(connections)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint(i)
	}
	file := filepath.Join(t.TempDir(), "many.yaml")
	definition := fmt.Sprintf(`version: 1
tables:
  - schema: anon
    name: many
    columns: [{name: id, type: INTEGER}, {name: part, type: INTEGER}]
    keys: [id, part]
    partitions: {column: part, values: [%s]}
`, strings.Join(values, ", "))
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	pgtest.InstallSchema(t, server.URL("postgres"))
	pgtest.Install(t, server.URL("postgres"), file)
	return fixtureAt(t, server.URL("postgres"))
}

// A session a core and one that owns are enough, though there are 120
// partitions: all other connections of a server that takes 20 are taken.
func TestCase40ManyPartitionsNeedFewSessions(t *testing.T) {
	const partitions, connections, cores = 120, 20, 4
	f := manyPartitions(t, partitions, connections)
	f.exec("INSERT INTO anon.many SELECT 0, part FROM generate_series(0, 119) AS part")
	var mu sync.Mutex
	sessions, together := map[int]int{}, make(chan struct{})
	write := func(plan int) step {
		return func(ctx context.Context, _ runner.Run, h runner.Handles) error {
			rows, err := h["t"].Query(ctx, squirrel.Select("min(pg_backend_pid())"))
			if err != nil {
				return err
			}
			pid, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
			if err != nil {
				return err
			}
			mu.Lock()
			if sessions[pid] = plan; len(sessions) == cores {
				close(together) // each plan has a session that no other has
			}
			mu.Unlock()
			select {
			case <-together:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			var all [][]any
			for part := range partitions {
				all = append(all, []any{plan, part})
			}
			return h["t"].Insert(ctx, runner.Values([]string{"id", "part"}, all))
		}
	}
	clear := func(ctx context.Context, _ runner.Run, h runner.Handles) error { return h["t"].DropAllRows(ctx) }
	task := tableTask("anon.many", clear, write(2), write(3), write(4), write(5), nothing)
	task.Cores = cores

	// there is room for the owner, and one a core
	taken := pgtest.Scalar[int](t, f.conn, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
	for range connections - taken - (1 + cores) {
		f.session()
	}
	f.mustRun(task, runner.RunKey("k"))
	f.want("480 120 14", "SELECT count(*) || ' ' || count(DISTINCT part) || ' ' || sum(id) / 120 FROM anon.many")
	f.want("120 120", "SELECT count(*) || ' ' || count(DISTINCT relation) FROM cs9.publish_step WHERE kind = 'truncate' AND state = 'done'")
	f.want("0 120 120 120 120 0", "SELECT string_agg(rows_staged::text, ' ' ORDER BY plan) FROM cs9.plan_status")
	f.wantClean()
}
