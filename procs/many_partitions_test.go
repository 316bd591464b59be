package procs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// manyPartitions is a session with a table of 100 partitions, one id each, of
// which each has a row, and with its twin.
func manyPartitions(t *testing.T) *split {
	t.Helper()
	s := newSplit(t, partitioning{partitions: "{by: range, columns: [id], parts: [" + manyParts(100, 1) + "]}"})
	s.both("DELETE FROM %s")
	s.both("INSERT INTO %s SELECT 'north', '2024-01-01', i, i FROM generate_series(0, 99) AS i")
	return s
}

// locked are the partitions on which this session's transaction holds a lock.
func (s *split) locked() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, `SELECT coalesce(string_agg(DISTINCT l.relation::regclass::text, ' ' ORDER BY l.relation::regclass::text), '')
		FROM pg_locks AS l WHERE l.pid = pg_backend_pid() AND l.relation IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'm.t'::regclass)`)
}

// What a run does not touch costs no lock and no relation, in any mode.
func TestOnlyTouchedPartitionsAreLocked(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "swap", "swap_or_atomic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := manyPartitions(t)
			require.NoError(t, s.stage(mode, dropWhere("id = 7"), "INSERT INTO {t} (region, day, id, v) VALUES ('north', '2024-01-01', 7, -7), ('south', '2024-01-01', 7, -7)"))
			require.Equal(t, 1, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace AND relkind IN ('r', 'p')"))
			s.exec("BEGIN")
			s.exec("SELECT cs9.check_publish($1)", s.run)
			require.Equal(t, "m.t_p7", s.locked())
			s.exec("COMMIT")
			if mode != "batched" {
				s.exec("BEGIN")
				s.exec("SELECT cs9.apply_run($1)", s.run)
				require.Contains(t, []string{"m.t_p7", ""}, s.locked())
				s.exec("ROLLBACK")
			}
			s.publish()
			require.Equal(t, "m.t_p7", s.rows2(fmt.Sprintf("SELECT string_agg(DISTINCT relation, ' ') FROM cs9.publish_step WHERE run_id = %d AND kind IN ('truncate', 'delete', 'analyze')", s.run)))
			require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM cs9.publish_step WHERE kind = 'analyze' AND note IS NOT NULL"), "it was analyzed")
			s.exec("DELETE FROM m.twin WHERE id = 7")
			s.exec("INSERT INTO m.twin VALUES ('north', '2024-01-01', 7, -7), ('south', '2024-01-01', 7, -7)")
			s.same()
		})
	}
}

// Rows that lie in one heap can be published in every mode, whatever the run was
// begun with; a new attempt writes to other partitions.
func TestRowsInOneHeapChangeModeAndAttempt(t *testing.T) {
	t.Parallel()
	insert := func(ids string) string {
		return "INSERT INTO {t} (region, day, id, v) SELECT 'north', '2024-01-01', i, -i FROM generate_series(" + ids + ") AS i"
	}
	for _, modes := range [][2]string{{"swap", "batched"}, {"swap", "atomic"}, {"batched", "swap"}, {"atomic", "swap_or_atomic"}, {"swap", "swap"}} {
		for name, rows := range map[string]string{"one": "7, 7", "several": "7, 12", "all": "0, 99"} {
			t.Run(modes[0]+" "+modes[1]+" "+name, func(t *testing.T) {
				t.Parallel()
				s := manyPartitions(t)
				condition := "id BETWEEN " + map[string]string{"one": "7 AND 7", "several": "7 AND 12", "all": "0 AND 99"}[name]
				require.NoError(t, s.stage(modes[0], dropWhere(condition), insert(rows)))

				// the next attempt stages for another partition in plan 1
				s.exec("SELECT cs9.release_run('t')")
				require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT attempt FROM cs9.begin_run('t', $1, '{m.t}', '[1]')", fmt.Sprint(s.runs)).Scan(&s.attempt))
				require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
				s.exec(dropWhere(condition + " OR id = 50"))
				staged := pgtest.Scalar[string](t, s.conn, "SELECT cs9.staging_table($1, 'm.t')", s.run)
				s.exec("INSERT INTO " + staged + " (region, day, id, v) SELECT 'north', '2024-01-01', i, -i FROM generate_series(0, 99) AS i WHERE i = 50 OR i" + condition[len("id"):])
				s.exec("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
				require.NoError(t, s.finish())

				s.exec("SELECT cs9.set_publish_mode('t', $1, $2)", fmt.Sprint(s.runs), modes[1])
				s.publish()
				s.exec("DELETE FROM m.twin WHERE " + condition + " OR id = 50")
				s.exec("INSERT INTO m.twin SELECT 'north', '2024-01-01', i, -i FROM generate_series(0, 99) AS i WHERE i = 50 OR i" + condition[len("id"):])
				s.same()
			})
		}
	}
}
