package procs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// bulk are plans that replace 5 old rows by 1,000 new ones and 50 upserts.
func bulk(s *session, key string) {
	s.t.Helper()
	s.ready(key,
		one(dropAll, "INSERT INTO %s (week, region, n) SELECT w, 'north', w FROM generate_series(1, 500) AS w ORDER BY w %% 7, w"),
		one("INSERT INTO %s (week, region, n) SELECT w, 'south', w FROM generate_series(1, 500) AS w ORDER BY w DESC"),
		one("INSERT INTO %s (week, region, n, cs9_op) SELECT w, 'south', w, 'u' FROM generate_series(501, 550) AS w"))
	require.NoError(s.t, s.finish())
}

const bulkRows = "1050 rows, 1050 keys, sum 276775"

func (s *session) bulkLive() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn,
		"SELECT format('%s rows, %s keys, sum %s', count(*), count(DISTINCT (week, region)), sum(n)) FROM anon.anon_rebuild_counts")
}

func TestP7APublishKilledAfterEachCommitResumes(t *testing.T) {
	t.Parallel()
	steps := 0
	for killAt := 1; ; killAt++ {
		s := newSession(t)
		bulk(s, "k")
		if done := stepTo(s, "k", killAt); done {
			steps = killAt
			break
		}
		second := connect(t, s.url)
		s.drop(second)
		if second.runState("k") != "published" { // what comes behind its end is of no weight
			require.Equal(t, "publish", second.begin("k"), "no plan runs any more")
			second.exec("CALL cs9.publish('t', 'k', 100)")
		}
		require.Equal(t, bulkRows, second.bulkLive(), "killed after commit %d", killAt)
		require.Equal(t, "published", second.runState("k"))
		second.nothingLeft()
	}
	require.Equal(t, 16, steps, "the steps recorded, 2 truncates, 11 batches, the end, and ANALYZE")
}

// stepTo publishes by the calls that cs9.publish is made of, each a transaction
// of its own, and stops after n commits; true: it was published before.
func stepTo(s *session, key string, n int) bool {
	s.t.Helper()
	run := pgtest.Scalar[int64](s.t, s.conn, "SELECT cs9.begin_publish('t', $1, NULL, 100)", key)
	for range n - 1 {
		more := pgtest.Scalar[bool](s.t, s.conn, "SELECT more FROM cs9.publish_next($1, NULL, 100, 0)", run)
		if !more {
			return true
		}
	}
	return false
}

func TestP7ACallKilledAtEachNoticeResumes(t *testing.T) {
	t.Parallel()
	for killAt := range 14 {
		s := newSession(t)
		bulk(s, "k")
		killer := connect(t, s.url)
		config, err := pgx.ParseConfig(s.url)
		require.NoError(t, err)
		notices := 0
		config.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {
			if notices++; notices == killAt+1 {
				killer.exec("SELECT pg_terminate_backend($1, 10000)", int(c.PID()))
			}
		}
		conn, err := pgx.ConnectConfig(t.Context(), config)
		require.NoError(t, err)
		s.drop(killer)
		_, err = conn.Exec(t.Context(), "CALL cs9.publish('t', 'k', 100)")
		_ = conn.Close(context.Background())
		if killer.runState("k") == "published" {
			require.Greater(t, killAt, 0, "at the first notice the publish is not at its end")
		} else {
			require.Error(t, err)
			killer.exec("CALL cs9.publish('t', 'k', 100)")
		}
		require.Equal(t, bulkRows, killer.bulkLive())
		killer.nothingLeft()
	}
}

func TestP7ANewKeyFirstPublishesTheRestOfTheOlderRun(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	bulk(s, "older")
	require.False(t, stepTo(s, "older", 5))
	require.Equal(t, "publish_older", s.begin("newer"))
	require.Equal(t, "older", pgtest.Scalar[string](t, s.conn, "SELECT publish_key FROM cs9.begin_run('t', 'newer', $1, $2)", []string{table}, planList))
	s.exec("CALL cs9.publish('t', 'older')")
	require.Equal(t, bulkRows, s.bulkLive())
	require.Equal(t, "new", s.begin("newer"))
}

func TestP7ANewKeyDiscardsAnOlderRunThatWasNotPublishing(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("older", one(dropAll, insert1), one(insert2), one(insert3))
	require.Equal(t, "new", s.begin("newer"))
	require.Equal(t, "discarded", s.runState("older"))
	s.nothingLeft()
	s.refused("S9005", "CALL cs9.publish('t', 'older')")
	require.Equal(t, oldRows, s.live())
}

func TestP7AChangedPlanListIsRefusedWithItsFirstDifference(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	const begin = "SELECT cs9.begin_run('t', 'k', ARRAY['anon.anon_rebuild_counts'], $1)"
	err := s.refused("S9008", begin, `[{"week": 1}, {"week": 9}, {"week": 3}]`)
	require.Equal(t, `Plan 2 was {"week": 2} and is now {"week": 9}.`, err.Detail)
	err = s.refused("S9008", begin, `[{"week": 1}, {"week": 2}, {"week": 3}, {"week": 4}]`)
	require.Equal(t, `Plan 4 was not there and is now {"week": 4}.`, err.Detail)
	require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT owner_alive FROM cs9.run_status"), "the task is as it was")
	s.exec(begin, `[{"week": 1}, {  "week" :2}, {"week": 3}]`)
}

// TestP7AChangedPlanListIsSaidInWords: a person reads the message, which has the
// first difference, or how many plans there are.
func TestP7AChangedPlanListIsSaidInWords(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	const begin = "SELECT cs9.begin_run('t', 'k', ARRAY['anon.anon_rebuild_counts'], $1)"
	long := `{"text": "` + strings.Repeat("x", 300) + `"}`
	for plans, want := range map[string][2]string{
		`[{"week": 1}, {"week": 9}, {"week": 3}]`: {`the plan list of run key 'k' changed: plan 2 was {"week": 2} and is now {"week": 9}`, `Plan 2 was {"week": 2} and is now {"week": 9}.`},
		`[{"week": 1}, {"week": 2}]`:              {"the plan list of run key 'k' changed: it had 3 plans and has 2 now", `Plan 3 was {"week": 3} and is now not there.`},
		`[null]`:                                  {"the plan list of run key 'k' changed: it had 3 plans and has 1 now", `Plan 1 was {"week": 1} and is now null.`},
		`[1, {"week": 2}, {"week": 3}]`:           {`the plan list of run key 'k' changed: plan 1 was {"week": 1} and is now 1`, `Plan 1 was {"week": 1} and is now 1.`},
		`[` + long + `, {"week": 2}, {"week": 3}]`: {`the plan list of run key 'k' changed: plan 1 was {"week": 1} and is now ` + long[:86],
			`Plan 1 was {"week": 1} and is now ` + long[:200] + `.`},
	} {
		err := s.refused("S9008", begin, plans)
		require.Equal(t, want[0], err.Message)
		require.Equal(t, want[1], err.Detail)
	}
	s.exec("UPDATE cs9.run SET plans_digest = 'of another form'")
	require.Equal(t, "the plan list of run key 'k' changed: it has as many plans, in another form",
		s.refused("S9008", begin, planList).Message)
}

func TestPublishOfWhatIsNoReadyRunIsAnError(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.refused("S9002", "CALL cs9.publish('t', 'unknown')")
	s.refused("S9002", "CALL cs9.publish('unknown', 'k')")
	s.refused("S9002", "CALL cs9.publish(NULL, NULL)")
	s.begin("k")
	s.refused("S9003", "CALL cs9.publish('t', 'k')")
	s.exec("SELECT cs9.discard_run('t', 'k')")
	s.refused("S9005", "CALL cs9.publish('t', 'k')")
	s.refused("S9016", "CALL cs9.publish('t', 'k', 0)")
	require.Equal(t, oldRows, s.live())
	s.nothingLeft()
}

func TestPublishInsideATransactionIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	s.exec("BEGIN")
	err := s.refused("2D000", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Where, "cs9.must_be_called_outside_a_transaction()")
	s.exec("ROLLBACK")
	s.refused("2D000", "DO $$ BEGIN PERFORM 1; CALL cs9.publish('t', 'k'); EXCEPTION WHEN division_by_zero THEN NULL; END $$")
	require.Equal(t, oldRows, s.live())
	require.Equal(t, "ready", s.runState("k"))
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, s.live())
}

func TestPublishWaitsForALockABoundedTimeAndCanBeResumed(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	reader := connect(t, s.url)
	reader.exec("BEGIN")
	require.Equal(t, oldRows, reader.live())

	s.exec("SET cs9.lock_timeout = '50ms'")
	s.exec("SET statement_timeout = '15s'") // what an unbounded wait would end in
	s.exec("SET cs9.lock_retries = '2'")
	s.exec("SET cs9.lock_backoff = '10ms'")
	err := s.refused("S9017", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Detail, "3 times")
	require.Equal(t, "anon_rebuild_counts_north", err.TableName)
	require.Equal(t, oldRows, reader.live(), "the reader was not disturbed")
	require.Equal(t, "publishing", s.runState("k"))
	require.False(t, pgtest.Scalar[bool](t, s.conn, "SELECT owner_alive FROM cs9.run_status"), "the session does not keep the lock")

	reader.exec("COMMIT")
	reader.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, reader.live())
}

func TestPublishDoesNotWaitLongToBegin(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	other := connect(t, s.url)
	other.exec("BEGIN")
	other.exec("LOCK TABLE anon.anon_rebuild_counts IN ACCESS EXCLUSIVE MODE")
	s.exec("SET cs9.lock_timeout = '50ms'")
	err := s.refused("S9017", "CALL cs9.publish('t', 'k')")
	require.Contains(t, err.Detail, "No live row was touched.")
	require.Equal(t, "ready", s.runState("k"))
	other.exec("ROLLBACK")
	other.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, other.live())
}

func TestTwoPublishersOneIsRefused(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	second := connect(t, s.url)
	second.refused("S9001", "CALL cs9.publish('t', 'k')")
	require.False(t, stepTo(s, "k", 3), "between two batches too")
	second.refused("S9001", "CALL cs9.publish('t', 'k')")
	second.refused("S9019", "SELECT cs9.publish_next($1, NULL, 100, 0)", s.run)
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, s.live())
}

func TestPublishOfOneTableAlone(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	s.exec("CALL anon.anon_rebuild_counts_publish('t', 'k', 1)")
	require.Equal(t, newRows, s.live())
	require.Equal(t, "published", s.runState("k"))
}

func TestPublishStopsWhenStagedRowsWereRewritten(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	bulk(s, "k")
	require.False(t, stepTo(s, "k", 6))
	s.exec("VACUUM FULL " + pgtest.Scalar[string](t, s.conn, "SELECT cs9.staged_label($1, 1)", s.run))
	s.refused("S9018", "CALL cs9.publish('t', 'k', 100)")
	s.refused("S9003", "SELECT cs9.discard_run('t', 'k')")
	s.exec("SELECT cs9.discard_run('t', 'k', true)")
	s.nothingLeft()
}

func TestPublishUnderAHostileSearchPath(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exec("CREATE SCHEMA hostile")
	for _, sql := range []string{
		"CREATE FUNCTION hostile.pg_sleep(double precision) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile'; END $$",
		"CREATE FUNCTION hostile.text_ne(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile'; END $$",
		"CREATE OPERATOR hostile.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.text_ne)",
		"CREATE FUNCTION hostile.int_gt(integer, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile'; END $$",
		"CREATE OPERATOR hostile.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = hostile.int_gt)",
		"CREATE FUNCTION hostile.format(text, VARIADIC \"any\") RETURNS text LANGUAGE internal AS 'text_format'",
	} {
		s.exec(sql)
	}
	for _, path := range []string{"hostile, pg_catalog", "''"} {
		key := "key of " + path
		s.exec("RESET search_path")
		s.ready(key, one(dropAll, insert1), one(insert2), one(insert3))
		s.exec("SET search_path = " + path)
		require.NoError(t, s.finish())
		s.exec("CALL cs9.publish('t', $1, 1)", key)
		require.Equal(t, strings.Trim(path, "'"), strings.Trim(pgtest.Scalar[string](t, s.conn, "SHOW search_path"), `"`), "nothing leaks")
		s.exec("RESET search_path")
		require.Equal(t, newRows, s.live())
	}
}

func TestNoticesSayInJSONHowFarThePublishIs(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	bulk(s, "k")
	config, err := pgx.ParseConfig(s.url)
	require.NoError(t, err)
	var moved []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		var d struct {
			Kind      string
			RowsDone  int `json:"rows_done"`
			RowsTotal int `json:"rows_total"`
		}
		if json.Unmarshal([]byte(n.Detail), &d) == nil && d.Kind == "move" {
			moved = append(moved, fmt.Sprintf("%d/%d", d.RowsDone, d.RowsTotal))
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	s.drop(connect(t, s.url))
	_, err = conn.Exec(t.Context(), "CALL cs9.publish('t', 'k', 500)")
	require.NoError(t, err)
	require.Equal(t, []string{"500/1050", "1000/1050", "1050/1050"}, moved)
}
