package procs_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// days is m.t with a partition a day.
func days(t *testing.T, n int) *session {
	t.Helper()
	return oneTable(t, nil, "columns: [{name: day, type: integer}, {name: id, type: integer}, {name: v, type: text}], keys: [day, id], "+
		"partitions: {by: range, columns: [day], parts: ["+manyParts(n, 1)+"]}",
		fmt.Sprintf("INSERT INTO m.t SELECT d, i, 'old' FROM generate_series(0, %d) AS d, generate_series(1, 3) AS i", n-1))
}

// oneDay makes the calls of a run that replaces one day, each in a transaction of
// its own, and returns how many partitions and indexes of partitions each of them locked.
func oneDay(s *session, key, mode string, publish bool) map[string]int {
	s.t.Helper()
	locks := map[string]int{}
	call := func(name, sql string, args ...any) {
		s.t.Helper()
		s.exec("BEGIN")
		s.exec(sql, args...)
		n := pgtest.Scalar[int](s.t, s.conn, `SELECT count(DISTINCT l.relation)::integer FROM pg_locks AS l
			WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.relation IN (SELECT i.inhrelid FROM pg_inherits AS i)`)
		locks[name] = max(locks[name], n)
		s.exec("COMMIT")
	}
	call("begin_run", "SELECT FROM cs9.begin_run('t', $1, '{m.t}', '[1]', p_publish_mode => $2)", key, mode)
	run := pgtest.Scalar[int64](s.t, s.conn, "SELECT run_id FROM cs9.run_status WHERE run_key = $1", key)
	call("begin_plan", "SELECT cs9.begin_plan($1, 1, 1)", run)
	call("drop_rows_where", "SELECT cs9.drop_rows_where('m.t', 'day = 7')")
	call("staging_table", "SELECT cs9.staging_table($1, 'm.t')", run)
	staged := pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, 'm.t')", run)
	call("insert", "INSERT INTO "+staged+" (day, id, v) SELECT 7, i, 'new' FROM generate_series(1, 5) AS i")
	call("finish_plan", "SELECT cs9.finish_plan($1, 1, 1)", run)
	call("finish_run", "SELECT cs9.finish_run($1, 1)", run)
	if !publish {
		call("discard_run", "SELECT cs9.discard_run('t', $1)", key)
		return locks
	}
	call("begin_publish", "SELECT cs9.begin_publish('t', $1, NULL, 100)", key)
	for pgtest.Scalar[string](s.t, s.conn, "SELECT state FROM cs9.run_status WHERE run_key = $1", key) != "published" {
		call("publish_next", "SELECT cs9.publish_next($1, NULL, 100, 0)", run)
	}
	return locks
}

// A run locks what it touches, however many partitions there are: beside 3,000 of
// them PostgreSQL's own settings leave no room for a lock on each.
func TestARunLocksNoPartitionThatItDoesNotTouch(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic", "swap"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			few, many := days(t, 40), days(t, 120)
			require.Equal(t, oneDay(few, "discarded", mode, false), oneDay(many, "discarded", mode, false))
			want, got := oneDay(few, "k", mode, true), oneDay(many, "k", mode, true)
			if mode == "atomic" { // which compares the staged rows with the whole table
				require.Equal(t, want["publish_next"]+2*80, got["publish_next"])
				delete(want, "publish_next")
				delete(got, "publish_next")
			}
			require.Equal(t, want, got)
			require.Less(t, slices.Max(slices.Collect(maps.Values(want))), 40)
			for _, s := range []*session{few, many} {
				require.Equal(t, 5, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM m.t WHERE v = 'new'"))
				require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_tables WHERE schemaname = 'cs9_staging'"))
			}
		})
	}
}
