package procs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

func one(sql ...string) []string { return sql }

func TestPsqlScriptRunsFailsResumesAndPublishes(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t, counts)
	_, stderr, err := pgtest.Psql(t, url, "-f", "../testdata/psql/run.sql")
	require.NoError(t, err, stderr)
	require.Contains(t, stderr, `"rows_done": 3`, "one NOTICE a batch, with JSON in its DETAIL")
	require.Contains(t, stderr, "cannot be published: it is running")
}

func TestRoutinesPassPlpgsqlCheck(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, pgtest.NewDatabase(t, counts))
	require.Empty(t, pgtest.PlpgsqlCheck(t, conn, "cs9", "anon"))
	require.Greater(t, pgtest.Scalar[int](t, conn,
		`SELECT count(*)::integer FROM pg_proc WHERE pronamespace IN ('cs9'::regnamespace, 'anon'::regnamespace)`), 50)
}

func TestPublicMayCallNothing(t *testing.T) {
	t.Parallel()
	conn := pgtest.Connect(t, pgtest.NewDatabase(t, counts))
	require.Empty(t, pgtest.Scalar[string](t, conn, `
		SELECT coalesce(string_agg(p.oid::regprocedure::text, ', '), '')
		FROM pg_proc AS p
		LEFT JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a ON a.grantee = 0
		WHERE p.pronamespace IN ('cs9'::regnamespace, 'anon'::regnamespace) AND a.grantee = 0`))
}

func TestP1NothingIsLiveBeforeTheLastPlan(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.Equal(t, oldRows, s.live())
	require.NoError(t, s.finish())
	require.Equal(t, oldRows, s.live())
	s.exec("CALL cs9.publish('t', 'k', 2)")
	require.Equal(t, newRows, s.live())
	s.nothingLeft()
	require.Equal(t, "published", s.runState("k"))
}

func TestP3ARetryRunsPlan1TheUnfinishedAndTheLast(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	require.Equal(t, "new", s.begin("k"))
	s.plan(1, dropAll, insert1)
	s.plan(2, insert2)
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 3, $2)", s.run, s.attempt))
	s.exec("INSERT INTO " + s.staged() + " (week, region, n) VALUES (9, 'north', 99)")

	second := connect(t, s.url)
	s.drop(second)
	require.Equal(t, "resumed", second.begin("k"))
	require.True(t, second.plan(1, dropAll, insert1), "plan 1 runs in each attempt")
	require.False(t, second.plan(2, insert2), "plan 2 was done")
	require.True(t, second.plan(3, insert3), "the last plan runs, and what it staged before is gone")
	require.NoError(t, second.finish())
	second.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, second.live())
	require.Equal(t, "{2}", pgtest.Scalar[string](t, second.conn, "SELECT array_agg(plan)::text FROM cs9.plan_status WHERE skipped"))
}

func TestP3ARerunPlanForgetsItsDeletes(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	s.plan(1, dropAll, insert1)
	require.Equal(t, "resumed", s.begin("k"), "the same session may begin again")
	s.plan(1, insert2)
	s.plan(2)
	s.plan(3)
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, oldRows+" s2=12", s.live(), "the delete of the first attempt is gone")
}

func TestP3AReadyRunThatIsBegunAgainRunsItsEndsAgain(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	require.Equal(t, "resumed", s.begin("k"))
	require.True(t, s.plan(1, dropAll, insert1))
	require.False(t, s.plan(2, insert2))
	s.refused("S9003", "SELECT cs9.finish_run($1, $2)", s.run, s.attempt)
	require.True(t, s.plan(3, insert3))
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, s.live())
}

func TestP4ARowWrittenTwiceStopsTheRun(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]string{
		"by another plan":           "INSERT INTO %s (week, region, n) VALUES (1, 'north', 99)",
		"as an upsert":              "INSERT INTO %s (week, region, n, cs9_op) VALUES (1, 'north', 99, 'u')",
		"twice by the other's plan": "INSERT INTO %s (week, region, n) VALUES (7, 'north', 1), (7, 'north', 1), (1, 'north', 2)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.ready("k", one(dropAll, insert1), one(again), one(insert3))
			err := requireState(t, "S9011", s.finish())
			require.Equal(t, "row (week, region) = (1, north) of anon.anon_rebuild_counts was written more than once", err.Message)
			require.Equal(t, "Written by plan 1 and plan 2.", err.Detail)
			require.Equal(t, "anon", err.SchemaName)
			require.Equal(t, "anon_rebuild_counts", err.TableName)
			s.refused("S9003", "CALL cs9.publish('t', 'k')")
			require.Equal(t, oldRows, s.live())
		})
	}
}

func TestP5APlanMayNotDeleteWhatAnotherWrote(t *testing.T) {
	t.Parallel()
	for name, plan2 := range map[string]string{
		"drop all":   dropAll,
		"drop where": "SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'week = 1') /* %s */",
		"keep where": "SELECT cs9.keep_rows_where('anon.anon_rebuild_counts', 'week > 1') /* %s */",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.ready("k", one(dropAll, insert1), one(plan2), one(insert3))
			requireState(t, "S9012", s.finish())
			require.Equal(t, oldRows, s.live())
		})
	}
}

func TestP5DeletesComeBeforeMoves(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k",
		one("INSERT INTO %s (week, region, n) VALUES (1, 'north', 11)", "SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'week = 1') /* %s */"),
		one("SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'week = 2') /* %s */"),
		one("SELECT cs9.keep_rows_where('anon.anon_rebuild_counts', 'week < 5') /* %s */", "INSERT INTO %s (week, region, n, cs9_op) VALUES (3, 'north', 33, 'u'), (4, 'south', 44, 'u')"))
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k', 1)")
	require.Equal(t, "n1=11 n3=33 n4=0 s4=44", s.live())
}

func TestP8AnotherSessionIsRefusedWhileTheOwnerLives(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	s.plan(1, dropAll, insert1)
	second := connect(t, s.url)
	for _, key := range []string{"k", "other"} {
		err := second.refused("S9001", "SELECT cs9.begin_run('t', $1, $2, $3)", key, []string{table}, planList)
		require.Regexp(t, `^Process [0-9]+ of this server owns it; run key 'k', attempt 1 since [^;]*\.$`, err.Detail)
	}
	s.exec("UPDATE cs9.run SET owner = 'a host''s'")
	require.Contains(t, second.refused("S9001", "SELECT cs9.begin_run('t', 'k', $1, $2)", []string{table}, planList).Detail, "attempt 1 by 'a host''s' since ")
	s.exec("UPDATE cs9.run SET is_current = false, state = 'discarded'")
	require.Regexp(t, `^Process [0-9]+ of this server owns it\.$`, second.refused("S9001", "SELECT cs9.begin_run('t', 'k', $1, $2)", []string{table}, planList).Detail)
	s.exec("UPDATE cs9.run SET is_current = true, state = 'running'")
	second.refused("S9001", "SELECT cs9.discard_run('t', 'k')")
	require.True(t, s.plan(2, insert2), "the owner goes on")
	require.True(t, pgtest.Scalar[bool](t, second.conn, "SELECT owner_alive FROM cs9.run_status"))
	s.drop(second)
	require.False(t, pgtest.Scalar[bool](t, second.conn, "SELECT owner_alive FROM cs9.run_status"))
	require.Equal(t, "resumed", second.begin("k"), "at once, whatever its age")
}

func TestP8TheFenceRefusesEveryWriteButTheLiveAttempts(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", s.run))
	staged := s.staged()
	insert := "INSERT INTO " + staged + " (week, region, n) VALUES (1, 'north', 1)"
	s.exec(insert)

	stranger := connect(t, s.url)
	stranger.refused("S9007", insert)
	for _, sql := range []string{"UPDATE " + staged + " SET n = 1", "DELETE FROM " + staged, "TRUNCATE " + staged} {
		stranger.refused("S9007", sql)
	}
	zombie := connect(t, s.url) // writes for attempt 1, without owning anything
	zombie.writesFor(s.run, 1, 1)
	zombie.exec(insert)
	require.Equal(t, "resumed", s.begin("k"))
	zombie.refused("S9006", insert)
	zombie.refused("S9006", "SELECT cs9.drop_all_rows('anon.anon_rebuild_counts')")
	zombie.refused("S9006", "SELECT cs9.finish_plan($1, 1, 1)", s.run)
	zombie.refused("S9006", "SELECT cs9.finish_run($1, 1)", s.run)
	zombie.refused("S9007", "INSERT INTO anon.anon_rebuild_counts_staging (week, region) VALUES (1, 'north')")
}

func TestP8ANewAttemptWaitsForAWriteInFlight(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", s.run)
	staged := s.staged()
	zombie := connect(t, s.url)
	zombie.writesFor(s.run, 1, 1)
	zombie.exec("BEGIN")
	zombie.exec("INSERT INTO " + staged + " (week, region, n) VALUES (1, 'north', 1)")

	second := connect(t, s.url)
	s.drop(second)
	second.exec("SET cs9.lock_timeout = '50ms'")
	second.refused("S9001", "SELECT cs9.begin_run('t', 'k', $1, $2)", []string{table}, planList)
	zombie.exec("COMMIT")
	require.Equal(t, "resumed", second.begin("k"))
	require.True(t, second.plan(1, dropAll))
	require.Zero(t, pgtest.Scalar[int](t, second.conn, "SELECT count(*)::integer FROM "+staged), "what the zombie staged is gone")
}

func TestP9TheDateIsTheFirstAttempts(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	const begin = "SELECT today::text FROM cs9.begin_run('t', 'k', ARRAY['anon.anon_rebuild_counts'], '[1]', p_today => $1)"
	require.Equal(t, "2026-01-02", pgtest.Scalar[string](t, s.conn, begin, "2026-01-02"))
	s.exec("SET TimeZone = 'Pacific/Kiritimati'")
	require.Equal(t, "2026-01-02", pgtest.Scalar[string](t, s.conn, begin, "2026-01-03"))
	require.Equal(t, "2026-01-02", pgtest.Scalar[string](t, s.conn, "SELECT today::text FROM cs9.claim_run('t', 'k')"))
}

func TestRowsAreInsertsUntilThePlanSaysUpsert(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one("SET cs9.op = 'u' /* %s */", "INSERT INTO %s (week, region, n) VALUES (1, 'north', 11)"), one(insert2), nil)
	require.NoError(t, s.finish())
	require.Equal(t, "1/1", pgtest.Scalar[string](t, s.conn, "SELECT format('%s/%s', rows_inserted, rows_upserted) FROM cs9.run_table"))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "n1=11 n2=0 n3=0 n4=0 n5=0 s2=12", s.live())
}

func TestP11APublishedKeyIsANoOp(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, "published", s.begin("k"))
	s.refused("S9004", "CALL cs9.publish('t', 'k')")
	s.refused("S9004", "SELECT cs9.discard_run('t', 'k')")
	require.Equal(t, newRows, s.live())
	require.Equal(t, "new", pgtest.Scalar[string](t, s.conn,
		"SELECT outcome FROM cs9.begin_run('t', 'k', ARRAY['anon.anon_rebuild_counts'], '[1]', p_again => true)"))
}

// TestP3RowsOfNoPlanAreNotPublished: no later attempt would remove them, so that
// they would be published beside those that are staged again.
func TestP3RowsOfNoPlanAreNotPublished(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]string{"a plan": "cs9_plan) VALUES (9, 'north', 1, 7)", "plan 0": "cs9_plan) VALUES (9, 'north', 1, 0)", "a run": "cs9_run) VALUES (9, 'north', 1, 99)"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.ready("k", one(dropAll, insert1), one(insert2, "INSERT INTO %s (week, region, n, "+values), one(insert3))
			err := requireState(t, "S9016", s.finish())
			require.Contains(t, err.Message, "1 staged rows of anon.anon_rebuild_counts name a run or plan that this run does not have")
			require.Equal(t, oldRows, s.live())
		})
	}
}
