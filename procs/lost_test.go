package procs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// loseStaged drops what runs have staged, as a dump without cs9_staging does.
func (s *session) loseStaged() {
	s.t.Helper()
	s.exec(`DO $lose$ DECLARE r record; BEGIN
		FOR r IN SELECT oid::regclass AS relation FROM pg_class
			WHERE relnamespace = 'cs9_staging'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		LOOP EXECUTE format('DROP TABLE %s', r.relation); END LOOP; END $lose$`)
}

func TestStagedRowsThatAreGoneAreSaidEverywhere(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic", "swap"} {
		for _, schemaToo := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, schema %v", mode, schemaToo), func(t *testing.T) {
				t.Parallel()
				s := newSession(t)
				s.begin("k")
				s.exec("SELECT cs9.set_publish_mode('t', 'k', $1)", mode)
				s.plan(1, dropAll, insert1)
				s.plan(2, insert2)
				s.plan(3, insert3)
				require.NoError(t, s.finish())
				before := s.live()
				s.loseStaged()
				if schemaToo {
					s.exec("DROP SCHEMA cs9_staging")
				}

				for _, call := range []string{"CALL cs9.publish('t', 'k')", "CALL anon.anon_rebuild_counts_publish('t', 'k')",
					"SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', '" + planList + "')"} {
					err := s.refused("S9018", call)
					require.Contains(t, err.Message, "the staged rows of run 'k' for anon.anon_rebuild_counts are gone")
					require.Contains(t, err.Detail, "restored from a dump without it")
					require.Contains(t, err.Hint, "cs9.discard_run(task, run_key), and run the task again with this key")
				}
				require.Equal(t, "ready", s.runState("k"))
				require.Equal(t, before, s.live())
				require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT owner_alive FROM cs9.run_status"), "the task is given back")

				s.exec("SELECT cs9.discard_run('t', 'k')")
				require.Equal(t, "new", s.begin("k"))
				if schemaToo {
					require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt))
					err := s.refused("S9018", "SELECT cs9.staging_table($1, 'anon.anon_rebuild_counts')", s.run)
					require.Contains(t, err.Hint, "CREATE SCHEMA cs9_staging")
					s.exec("SELECT cs9.fail_plan($1, 1, $2, 'no schema')", s.run, s.attempt)
					s.exec("CREATE SCHEMA cs9_staging")
				}
				s.exec("SELECT cs9.set_publish_mode('t', 'k', $1)", mode)
				s.plan(1, dropAll, insert1)
				s.plan(2, insert2)
				s.plan(3, insert3)
				require.NoError(t, s.finish())
				s.exec("CALL cs9.publish('t', 'k')")
				require.Equal(t, newRows, s.live())
			})
		}
	}
}

func TestStagedRowsThatAreGoneStopARunThatIsNotReady(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	s.plan(1, dropAll, insert1)
	s.plan(2, insert2)
	s.loseStaged()
	// the attempt that goes on
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 3, $2)", s.run, s.attempt))
	s.refused("S9018", "SELECT cs9.staging_table($1, 'anon.anon_rebuild_counts')", s.run)
	s.refused("S9018", "SELECT cs9.finish_plan($1, 3, $2)", s.run, s.attempt)
	s.exec("SELECT cs9.finish_plan($1, 3, $2, 0)", s.run, s.attempt)
	requireState(t, "S9018", s.finish())
	// and the next one: plan 2 is done, its rows are not there
	s.refused("S9018", "SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', '"+planList+"')")
	s.exec("SELECT cs9.discard_run('t', 'k')")
	require.Equal(t, "new", s.begin("k"))
}

func TestStagedRowsThatAreGoneInTheMiddleOfAPublish(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"batched", "atomic", "swap"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.begin("k")
			s.exec("SELECT cs9.set_publish_mode('t', 'k', $1)", mode)
			s.plan(1, dropAll, insert1)
			s.plan(2, insert2)
			s.plan(3, insert3)
			require.NoError(t, s.finish())
			reader := connect(t, s.url)
			reader.exec("BEGIN; LOCK anon.anon_rebuild_counts IN ROW EXCLUSIVE MODE")
			s.exec("SET cs9.lock_timeout = '1ms'; SET cs9.lock_retries = '0'")
			s.refused("S9017", "CALL cs9.publish('t', 'k')")
			reader.exec("COMMIT")
			require.Equal(t, "publishing", s.runState("k"))
			s.loseStaged()

			for _, call := range []string{"CALL cs9.publish('t', 'k')", "SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', '" + planList + "')"} {
				err := s.refused("S9018", call)
				require.Contains(t, err.Hint, "cs9.discard_run(task, run_key, true)")
			}
			s.exec("SELECT cs9.discard_run('t', 'k', true)")
			require.Equal(t, "new", s.begin("k"))
		})
	}
}
