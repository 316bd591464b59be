package procs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// owned says whether any session owns a task.
func (s *session) owned() bool {
	s.t.Helper()
	return pgtest.Scalar[bool](s.t, s.conn, "SELECT coalesce(bool_or(cs9.task_owner(task_id) IS NOT NULL), false) FROM cs9.task")
}

// What a rollback takes back is not owned, though the session lives on.
func TestP8ARolledBackClaimLeavesTheTaskFree(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	other := connect(t, s.url)
	begin := "SELECT run_id FROM cs9.begin_run('t', 'k', ARRAY['" + table + "'], '[1]')"
	for _, how := range [][]string{
		{"BEGIN", begin, "ROLLBACK"},
		{"BEGIN", "SELECT cs9.claim_run('t', 'k')", "ROLLBACK"},
		{"BEGIN", "SAVEPOINT a", begin, "ROLLBACK TO a", "COMMIT"},
	} {
		for _, sql := range how {
			s.exec(sql)
		}
		require.False(t, other.owned(), "%q", how)
		require.Equal(t, "new", other.begin("k"), "%q", how)
		other.exec("SELECT cs9.discard_run('t', 'k')")
	}
	s.refused("S9010", "SELECT cs9.begin_run('t', 'k', ARRAY['anon.missing'], '[1]')")
	require.False(t, other.owned())

	require.Equal(t, "new", s.begin("k"))
	s.exec("BEGIN")
	s.refused("S9008", "SELECT cs9.begin_run('t', 'k', ARRAY['"+table+"'], '[7]')")
	s.exec("ROLLBACK")
	other.refused("S9001", "SELECT cs9.claim_run('t', 'k')")
	require.Equal(t, 1, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"),
		"the claims that were rolled back are let go of")
}

// A lock that another login takes with a number of cs9gen's class means nothing.
func TestP8AnotherSessionsAdvisoryLockBlocksNoTask(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	thief := connect(t, s.url)
	thief.exec("SELECT pg_advisory_lock(cs9.lock_class(), i) FROM generate_series(1, 20) AS i")
	require.Equal(t, "new", s.begin("k"))
	claim := pgtest.Scalar[int](t, s.conn, "SELECT claim FROM cs9.task")
	require.Greater(t, claim, 20)
	waiting := make(chan error, 1)
	go func() { waiting <- thief.try("SELECT pg_advisory_lock(cs9.lock_class(), $1)", claim) }()
	other := connect(t, s.url)
	s.drop(other)
	require.NoError(t, <-waiting, "it holds the number of the claim now")
	require.False(t, other.owned())
	require.Equal(t, "resumed", other.begin("k"))
}

// Whatever ends a CALL, its task is free at once, and the next one goes on.
func TestP7ACallThatIsCancelledAnywhereOwnsNothing(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	bulk(s, "k")
	s.exec("SELECT cs9.release_run('t')")
	other := connect(t, s.url)
	pid := s.conn.PgConn().PID()
	published := false
	for i := 0; !published; i++ {
		require.Less(t, i, 200)
		ended := make(chan error, 1)
		go func() { ended <- s.try("CALL cs9.publish('t', 'k', 100)", pgx.QueryExecModeSimpleProtocol) }()
		// the begin of the i-th transaction from now on is the point
		began := time.Now()
		for time.Since(began) < time.Duration(i)*time.Millisecond {
			other.exec("SELECT 1")
		}
		other.exec("SELECT pg_cancel_backend($1)", pid)
		err := <-ended
		var pgErr *pgconn.PgError
		if err != nil && errors.As(err, &pgErr) {
			require.Contains(t, []string{"57014", "S9004"}, pgErr.Code, pgErr.Message)
		}
		require.False(t, other.owned(), "after %d ms: %v", i, err)
		published = other.runState("k") == "published"
		if !published {
			other.exec("SELECT cs9.claim_run('t', 'k')")
			other.exec("SELECT cs9.release_run('t')")
		}
	}
	require.Equal(t, bulkRows, other.bulkLive())
}

func TestP7ACallEndedByStatementTimeoutOwnsNothing(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	bulk(s, "k")
	s.exec("SELECT cs9.release_run('t')")
	other := connect(t, s.url)
	for i := 1; ; i++ {
		require.Less(t, i, 300)
		s.exec(fmt.Sprintf("SET statement_timeout = %d", 5*i))
		err := s.try("CALL cs9.publish('t', 'k', 100)", pgx.QueryExecModeSimpleProtocol)
		require.False(t, other.owned(), "%v", err)
		if err == nil {
			break
		}
		requireState(t, "57014", err)
		if other.runState("k") == "published" {
			break // it was behind the end of the run
		}
	}
	require.Equal(t, bulkRows, other.bulkLive())
}

// A session that owns the task by begin_run gives it to its CALL, which is seen
// to be alive between any two of its commits.
func TestP8ACallIsAliveBetweenItsCommits(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	bulk(s, "k")
	require.True(t, s.owned())
	other := connect(t, s.url)
	ended := make(chan error, 1)
	go func() { ended <- s.try("CALL cs9.publish('t', 'k', 1)", pgx.QueryExecModeSimpleProtocol) }()
	refused := 0
	for {
		err := other.try("SELECT cs9.claim_run('t', 'k2')")
		if err == nil {
			break
		}
		requireState(t, "S9001", err)
		refused++
	}
	require.NoError(t, <-ended, "nobody took the task from it")
	require.Equal(t, "published", other.runState("k"))
	require.Positive(t, refused)
	require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"))
}

// An old snapshot does not see what others have staged: it may prove nothing.
func TestP6AnOldSnapshotProvesNothing(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		s := newSession(t)
		require.Equal(t, "new", s.begin("k"))
		require.True(t, pgtest.Scalar[bool](t, s.conn, "SELECT cs9.begin_plan($1, 1, 1)", s.run))
		staged := s.staged()
		s.exec("BEGIN ISOLATION LEVEL " + level)
		s.exec("SELECT 1")
		other := connect(t, s.url)
		other.writesFor(s.run, 1, 1)
		other.exec("INSERT INTO " + staged + " (week, region, n) SELECT w, 'north', 1 FROM generate_series(11, 15) AS w")
		err := s.refused("S9016", fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", s.run))
		require.Contains(t, err.Message, level)
		require.Contains(t, err.Hint, "BEGIN ISOLATION LEVEL READ COMMITTED")
		s.exec("ROLLBACK")
		for _, sql := range []string{
			"SELECT cs9.finish_run(%d, 1)", "SELECT cs9.next_plan(%d, 1, 1, NULL, 2)", "SELECT cs9.begin_plan(%d, 2, 1)", "SELECT cs9.fail_plan(%d, 1, 1, 'no')",
			"SELECT cs9.begin_publish('t', 'k', NULL, 1) WHERE %d > 0", "SELECT cs9.discard_run('t', 'k') WHERE %d > 0",
			"SELECT cs9.claim_run('t', 'k') WHERE %d > 0", "SELECT cs9.begin_run('t', 'k', ARRAY['" + table + "'], '[1]') WHERE %d > 0",
			"SELECT cs9.set_publish_mode('t', 'k', 'atomic') WHERE %d > 0", "SELECT cs9.begin_change('anon', 'anon_rebuild_counts') WHERE %d > 0",
		} {
			s.exec("BEGIN ISOLATION LEVEL " + level)
			s.refused("S9016", fmt.Sprintf(sql, s.run))
			s.exec("ROLLBACK")
		}
		s.exec("SET default_transaction_isolation = '" + level + "'")
		require.Contains(t, s.refused("S9016", "SELECT cs9.finish_run($1, 1)", s.run).Hint, "SET default_transaction_isolation")
		s.exec("RESET default_transaction_isolation")
		s.exec("SELECT cs9.finish_plan($1, 1, 1)", s.run)
		require.Equal(t, 5, pgtest.Scalar[int](t, s.conn, "SELECT rows_staged::integer FROM cs9.plan WHERE plan = 1"))
	}
}

// The fence does not depend on a setting of the writer.
func TestP8SessionReplicationRoleIsNoWayRoundTheFence(t *testing.T) {
	t.Parallel()
	s := newModes(t)
	for name, columns := range map[string]string{"moved": "(k) VALUES (1)", "split": "(k, region) VALUES (1, 'north')", "whole": "(k) VALUES (1)"} {
		require.NoError(t, s.plans("k", []string{"m." + name}, []string{drop("m." + name), fmt.Sprintf("INSERT INTO {%s} %s", name, columns)}))
		staged := s.stagedLabel()
		writer := connect(t, s.url)
		writer.writesFor(s.run, 1, 1)
		for _, role := range []string{"origin", "replica", "local"} {
			writer.exec("SET session_replication_role = " + role)
			writer.refused("S9003", "INSERT INTO "+staged+" "+columns)
			writer.refused("S9003", "TRUNCATE "+staged)
			for _, part := range pgtest.Scalar[[]string](t, s.conn, "SELECT coalesce(array_agg(relid::text) FILTER (WHERE level > 0), '{}') FROM pg_partition_tree($1)", staged) {
				writer.refused("S9003", "DELETE FROM "+part)
			}
		}
		s.exec("SELECT cs9.discard_run('t', 'k')")
	}
}

// Within one attempt, too, a plan belongs to whoever took it last.
func TestP8AnEarlierHolderOfAPlanIsShutOut(t *testing.T) {
	t.Parallel()
	insert := func(s *session, week int) string {
		return fmt.Sprintf("INSERT INTO %s (week, region, n) VALUES (%d, 'north', 1)", s.staged(), week)
	}
	for name, give := range map[string]func(s, first *session){
		"it was failed by another session": func(s, _ *session) { s.exec("SELECT cs9.fail_plan($1, 1, 1, 'slow')", s.run) },
		"it failed": func(_, first *session) {
			// what a program does that holds on to the settings of its plan
			taking := pgtest.Scalar[string](first.t, first.conn, "SELECT current_setting('cs9.taking')")
			first.exec("SELECT cs9.fail_plan($1, 1, 1, 'slow')", first.run)
			first.exec(fmt.Sprintf("SET cs9.run_id = '%d'; SET cs9.plan = '1'; SET cs9.attempt = '1'; SET cs9.taking = '%s'", first.run, taking), pgx.QueryExecModeSimpleProtocol)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			first, second := connect(t, s.url), connect(t, s.url)
			require.Equal(t, "new", s.begin("k"))
			first.run, second.run = s.run, s.run
			first.exec("SELECT cs9.begin_plan($1, 1, 1)", s.run)
			write := insert(first, 71)
			first.exec(write)
			first.exec("SELECT cs9.drop_rows_where('" + table + "', 'week = 1')")
			second.refused("S9007", "SELECT cs9.begin_plan($1, 1, 1)", s.run)
			give(s, first)
			second.exec("SELECT cs9.begin_plan($1, 1, 1)", s.run)
			for _, sql := range []string{
				write, "SELECT cs9.drop_all_rows('" + table + "')", fmt.Sprintf("SELECT cs9.staging_table(%d, '%s')", s.run, table),
				fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", s.run), fmt.Sprintf("SELECT cs9.fail_plan(%d, 1, 1, 'no')", s.run),
				fmt.Sprintf("SELECT cs9.next_plan(%d, 1, 1, NULL, 2)", s.run),
			} {
				require.Contains(t, first.refused("S9006", sql).Message, "was given to another session")
			}
			s.refused("S9007", "SELECT cs9.finish_plan($1, 1, 1)", s.run)
			second.exec(insert(second, 81))
			second.exec("SELECT cs9.finish_plan($1, 1, 1)", s.run)
			require.Equal(t, "81", pgtest.Scalar[string](t, s.conn, "SELECT string_agg(week::text, ',') FROM "+second.stagedLabel()))
			require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM cs9.staged_delete"))
		})
	}
}

func (s *session) stagedLabel() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staged_label($1, table_id) FROM cs9.run_table WHERE run_id = $1", s.run)
}

// A plan whose session has gone can be begun by another one, and what was
// staged by it is removed. What its other sessions write is waited for.
func TestP8APlanOfADeadSessionCanBeBegun(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	first, helper, second := connect(t, s.url), connect(t, s.url), connect(t, s.url)
	require.Equal(t, "new", s.begin("k"))
	first.run, second.run = s.run, s.run
	first.exec("SELECT cs9.begin_plan($1, 1, 1)", s.run)
	write := "INSERT INTO " + first.staged() + " (week, region, n) VALUES (%d, 'north', 1)"
	first.exec(fmt.Sprintf(write, 71))
	helper.writesFor(s.run, 1, 1)
	helper.exec("BEGIN")
	helper.exec(fmt.Sprintf(write, 72))
	first.drop(second)
	second.exec("SET cs9.lock_timeout = '50ms'")
	require.Contains(t, second.refused("S9001", "SELECT cs9.begin_plan($1, 1, 1)", s.run).Message, "a write of plan 1")
	helper.exec("COMMIT")
	second.exec("SELECT cs9.begin_plan($1, 1, 1)", s.run)
	helper.refused("S9006", fmt.Sprintf(write, 73))
	second.exec(fmt.Sprintf(write, 81))
	second.exec("SELECT cs9.finish_plan($1, 1, 1)", s.run)
	require.Equal(t, "81", pgtest.Scalar[string](t, s.conn, "SELECT string_agg(week::text, ',') FROM "+second.stagedLabel()))
}

// holder is another session that holds a lock on a table.
func (s *session) holder(relation, mode string) *session {
	s.t.Helper()
	other := connect(s.t, s.url)
	other.exec("SET application_name = 'pg_dump'")
	other.exec("BEGIN")
	other.exec("LOCK TABLE " + relation + " IN " + mode + " MODE")
	return other
}

// A dump that reads what a run staged keeps nobody waiting: what cannot be
// dropped is dropped by a later call.
func TestNoCallWaitsForAReaderOfWhatWasStaged(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exec("SET cs9.lock_timeout = '50ms'; SET cs9.lock_retries = 1", pgx.QueryExecModeSimpleProtocol)
	stage := func(key string) *session {
		t.Helper()
		require.Equal(t, "new", s.begin(key))
		require.True(t, s.plan(1, dropAll, insert1))
		return s.holder(s.stagedLabel(), "ACCESS SHARE")
	}
	left := func() int {
		t.Helper()
		return pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace AND relkind = 'r'")
	}
	dump := stage("discarded")
	s.exec("SELECT cs9.discard_run('t', 'discarded')")
	require.Equal(t, "discarded", s.runState("discarded"))
	require.Equal(t, 1, left())
	began := time.Now()
	s.exec("SET cs9.lock_timeout = '1min'")
	require.Equal(t, "new", s.begin("meanwhile"))
	s.exec("SELECT cs9.discard_run('t', 'meanwhile')")
	s.exec("SET cs9.lock_timeout = '50ms'")
	require.Less(t, time.Since(began), 30*time.Second, "what is held is left as it is, without a wait")
	require.Equal(t, 1, left())
	dump.exec("ROLLBACK")

	dump = stage("failed")
	require.Equal(t, 1, left(), "begin_run has dropped what the first one left")
	require.Equal(t, "new", s.begin("newer"))
	require.Equal(t, "discarded", s.runState("failed"))
	dump.exec("ROLLBACK")
	s.exec("SELECT cs9.discard_run('t', 'newer')")
	require.Zero(t, left())

	s.ready("ready", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	dump = s.holder(s.stagedLabel(), "ACCESS SHARE")
	err := s.refused("S9024", "SELECT cs9.begin_run('t', 'ready', $1, $2)", []string{table}, planList)
	require.Contains(t, err.Detail, fmt.Sprintf("process %d (pg_dump) holds AccessShareLock", dump.conn.PgConn().PID()))
	require.Equal(t, "ready", s.runState("ready"))
	s.exec("CALL cs9.publish('t', 'ready')")
	require.Equal(t, "published", s.runState("ready"), "the end of the run is no reason to wait")
	require.Equal(t, newRows, s.live())
	require.Equal(t, 1, left())
	dump.exec("ROLLBACK")
	require.Equal(t, "new", s.begin("last"))
	require.Zero(t, left())
}

// A lock on what was staged, or on the register of tables, is waited for within
// the bound, and named.
func TestEachWaitForALockIsBounded(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.exec("SET cs9.lock_timeout = '50ms'; SET cs9.lock_retries = 1", pgx.QueryExecModeSimpleProtocol)
	require.Equal(t, "new", s.begin("k"))
	require.True(t, s.plan(1, dropAll, insert1))
	s.exec("SELECT cs9.release_run('t')")
	require.Equal(t, "resumed", s.begin("k"))
	holder := s.holder(s.stagedLabel(), "SHARE")
	s.refused("S9024", "SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt)
	holder.exec("ROLLBACK")
	require.True(t, s.plan(1, dropAll, insert1))
	require.True(t, s.plan(2, insert2))
	require.True(t, s.plan(3, insert3))
	holder = s.holder(s.stagedLabel(), "ROW EXCLUSIVE")
	require.Contains(t, s.refused("S9024", "SELECT cs9.finish_run($1, $2)", s.run, s.attempt).Detail, "(pg_dump)")
	holder.exec("ROLLBACK")

	migration := connect(t, s.url)
	migration.exec("BEGIN")
	migration.exec("SELECT FROM cs9.table_definition FOR UPDATE")
	require.Contains(t, s.refused("S9024", "SELECT cs9.begin_run('t', 'k', $1, $2)", []string{table}, planList).Message, "a migration")
	migration.exec("ROLLBACK")

	rival := connect(t, s.url)
	rival.exec("BEGIN")
	rival.exec("SELECT cs9.claim_run('another', 'k')")
	s.refused("S9001", "SELECT cs9.claim_run('another', 'k')")
	rival.exec("ROLLBACK")
	s.exec("SELECT cs9.claim_run('another', 'k')")
}

// ANALYZE is nobody's safety: a table that is being vacuumed stops no publish, and
// keeps no other table waiting.
func TestAnAnalyzeThatCannotBeHadIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, held := range []string{"m.moved", "m.plain"} {
		s := newModes(t)
		require.NoError(t, s.plans("k", []string{"m.moved", "m.plain", "m.split"}, []string{
			"INSERT INTO {moved} (k) VALUES (1)", "INSERT INTO {plain} (k) VALUES (1)"}))
		s.exec("SET cs9.lock_timeout = '50ms'")
		vacuum := s.holder(held, "SHARE UPDATE EXCLUSIVE")
		if held == "m.plain" { // EXCLUSIVE, which an atomic publish takes, would have to wait for it
			vacuum.exec("ROLLBACK")
			vacuum.exec("BEGIN")
			s.exec("CREATE FUNCTION m.hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			s.exec("CREATE STATISTICS m.raises ON (1 / (k - 1)), v FROM m.plain")
		}
		s.exec("CALL cs9.publish('t', 'k')")
		require.Equal(t, "published", s.runState("k"))
		require.Equal(t, "(1,)", s.rows("m.moved"))
		require.Equal(t, "close analyze m.plain analyze m.moved", s.rows2(`SELECT string_agg(concat_ws(' ', kind, relation), ' ' ORDER BY step)
			FROM cs9.publish_step WHERE kind IN ('close', 'analyze')`), "a table that is only read is not analyzed")
		require.Contains(t, s.rows2("SELECT note FROM cs9.publish_step WHERE kind = 'analyze' AND relation = '"+held+"'"),
			map[string]string{"m.moved": "(pg_dump) holds ShareUpdateExclusiveLock", "m.plain": "not analyzed: division by zero"}[held])
		vacuum.exec("ROLLBACK")
		s.nothingLeft()
	}
}

// What is proved is not thrown away for a new key.
func TestP7ANewKeyFirstPublishesAnOlderRunThatIsReady(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.ready("older", one(dropAll, insert1), one(insert2), one(insert3))
	require.NoError(t, s.finish())
	s.exec("SELECT cs9.release_run('t')")
	require.Equal(t, "publish_older older", pgtest.Scalar[string](t, s.conn, "SELECT outcome || ' ' || publish_key FROM cs9.begin_run('t', 'newer', $1, $2)", []string{table}, planList))
	require.Equal(t, "ready", s.runState("older"))
	s.exec("CALL cs9.publish('t', 'older')")
	require.Equal(t, newRows, s.live())
	require.Equal(t, "new", s.begin("newer"))
}

// A login that may not publish it is told what to do.
func TestP7AnOlderRunThatIsReadyIsNotThrownAwayByARunnerAlone(t *testing.T) {
	t.Parallel()
	f := newRolesFixture(t)
	f.ready()
	require.False(t, pgtest.Scalar[bool](t, f.runner.conn, "SELECT cs9.may_publish('t', 'k')"))
	require.True(t, pgtest.Scalar[bool](t, f.publisher.conn, "SELECT cs9.may_publish('t', 'k')"))
	begin := "SELECT cs9.begin_run('t', 'newer', ARRAY['demo.guarded'], '[1]')"
	err := f.runner.refused("S9003", begin)
	require.Contains(t, err.Message, "must be published before another one begins")
	require.Contains(t, err.Hint, "discard_run")
	require.Equal(t, "ready", f.runner.runState("k"))
	f.runner.exec("SELECT cs9.discard_run('t', 'k')")
	f.runner.exec(begin)
}

// A failed older run is discarded, and that is said.
func TestP7TheDiscardOfAFailedOlderRunIsSaid(t *testing.T) {
	t.Parallel()
	url := pgtest.NewDatabase(t, counts)
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	var notices []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	s := &session{t: t, url: url, conn: conn}
	require.Equal(t, "new", s.begin("older"))
	require.True(t, s.plan(1, insert1))
	require.Equal(t, "new", s.begin("newer"))
	require.Equal(t, []string{"run 'older' of task 't' had failed: what it staged is discarded, because the task was started with run key 'newer'"}, notices)
	require.Contains(t, pgtest.Scalar[string](t, conn, "SELECT error FROM cs9.run WHERE run_key = 'older'"), "'newer'")
}

// Where nothing can be swapped, swap_or_atomic is atomic.
func TestSwapOrAtomicIsAtomicWhereNothingCanBeSwapped(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "moved"} {
		s := newModes(t)
		require.NoError(t, s.conn.QueryRow(t.Context(), `SELECT run_id, attempt FROM cs9.begin_run('t', 'k', ARRAY['m.`+name+`'], '[1]', p_publish_mode => 'swap_or_atomic')`).Scan(&s.run, &s.attempt))
		require.Equal(t, "atomic", s.rows2("SELECT publish_mode FROM cs9.run_table"))
		s.exec("SELECT cs9.discard_run('t', 'k')")
		require.NoError(t, s.plans("k2", []string{"m." + name}, []string{fmt.Sprintf("INSERT INTO {%s} (k) VALUES (1)", name)}))
		s.refused("S9016", "SELECT cs9.set_publish_mode('t', 'k2', 'swap')")
		s.exec("SELECT cs9.set_publish_mode('t', 'k2', 'swap_or_atomic')")
		s.exec("CALL cs9.publish('t', 'k2')")
		require.Contains(t, s.rows("m."+name), "(1,")
	}
}

// The pieces of a publish hold locks while they commit: only the commit that ends
// the run waits for a synchronous standby, as its session has asked.
func TestOnlyTheCommitThatEndsTheRunWaitsForAStandby(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"on", "remote_apply", "off"} {
		s := newModes(t)
		s.execAll("CREATE TABLE m.seen (what text, setting text)")
		s.exec(`CREATE FUNCTION m.see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO m.seen VALUES (TG_ARGV[0], current_setting(''synchronous_commit'')); RETURN NULL; END'`)
		s.execAll(`CREATE TRIGGER see AFTER INSERT ON m.moved FOR EACH STATEMENT EXECUTE FUNCTION m.see('moved');
			CREATE TRIGGER see AFTER UPDATE ON cs9.run FOR EACH ROW WHEN (NEW.state = 'published') EXECUTE FUNCTION m.see('ended')`)
		require.NoError(t, s.plans("k", []string{"m.moved"}, []string{"INSERT INTO {moved} (k) VALUES (1)"}))
		s.exec("SET synchronous_commit = " + asked)
		s.exec("CALL cs9.publish('t', 'k')")
		piece := map[bool]string{true: "off", false: "local"}[asked == "off"]
		require.Equal(t, "ended "+asked+", moved "+piece, s.rows2("SELECT string_agg(what || ' ' || setting, ', ' ORDER BY what) FROM m.seen"))
		require.Equal(t, asked, s.rows2("SELECT current_setting('synchronous_commit')"))
	}
}
