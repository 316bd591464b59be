package procs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	counts   = "../testdata/psql/counts.yaml"
	table    = "anon.anon_rebuild_counts"
	planList = `[{"week": 1}, {"week": 2}, {"week": 3}]`
)

// session is one client that drives a run in SQL.
type session struct {
	t       *testing.T
	url     string
	conn    *pgx.Conn
	run     int64
	attempt int
}

func connect(t *testing.T, url string) *session {
	t.Helper()
	return &session{t: t, url: url, conn: pgtest.Connect(t, url)}
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := connect(t, pgtest.NewDatabase(t, counts))
	s.exec(`INSERT INTO anon.anon_rebuild_counts SELECT w, 'north', 0 FROM generate_series(1, 5) AS w`)
	return s
}

func (s *session) exec(sql string, args ...any) {
	s.t.Helper()
	require.NoError(s.t, s.try(sql, args...), sql)
}

func (s *session) try(sql string, args ...any) error {
	_, err := s.conn.Exec(s.t.Context(), sql, args...)
	return err
}

// refused runs a statement that must fail with an SQLSTATE.
func (s *session) refused(state, sql string, args ...any) *pgconn.PgError {
	s.t.Helper()
	return requireState(s.t, state, s.try(sql, args...))
}

func requireState(t *testing.T, state string, err error) *pgconn.PgError {
	t.Helper()
	var pgErr *pgconn.PgError
	require.ErrorAs(t, err, &pgErr)
	require.Equal(t, state, pgErr.Code, "%s (%s)", pgErr.Message, pgErr.Detail)
	if state[:2] == "S9" {
		require.NotEmpty(t, pgErr.Detail)
		require.NotEmpty(t, pgErr.Hint)
	}
	return pgErr
}

func (s *session) begin(key string) (outcome string) {
	s.t.Helper()
	err := s.conn.QueryRow(s.t.Context(), `SELECT outcome, coalesce(run_id, 0), coalesce(attempt, 0) FROM cs9.begin_run('t', $1, $2, $3)`,
		key, []string{table}, planList).Scan(&outcome, &s.run, &s.attempt)
	require.NoError(s.t, err)
	return outcome
}

// plan runs a plan with the given statements, %s standing for the run's own
// table; false: it was skipped.
func (s *session) plan(n int, statements ...string) bool {
	s.t.Helper()
	if !pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, $2, $3)", s.run, n, s.attempt) {
		return false
	}
	staged := s.staged()
	for _, sql := range statements {
		s.exec(fmt.Sprintf(sql, staged))
	}
	s.exec("SELECT cs9.finish_plan($1, $2, $3)", s.run, n, s.attempt)
	return true
}

func (s *session) staged() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, "SELECT cs9.staging_table($1, $2)", s.run, table)
}

const (
	dropAll = "SELECT cs9.drop_all_rows('anon.anon_rebuild_counts') /* %s */"
	insert1 = "INSERT INTO %s (week, region, n) VALUES (1, 'north', 11)"
	insert2 = "INSERT INTO %s (week, region, n) VALUES (2, 'south', 12)"
	insert3 = "INSERT INTO %s (week, region, n) VALUES (3, 'north', 13)"
)

// ready brings a run with these statements a plan to its end.
func (s *session) ready(key string, plan1, plan2, plan3 []string) {
	s.t.Helper()
	require.Equal(s.t, "new", s.begin(key))
	require.True(s.t, s.plan(1, plan1...))
	require.True(s.t, s.plan(2, plan2...))
	require.True(s.t, s.plan(3, plan3...))
}

// writesFor sets what a session that writes for a plan has set.
func (s *session) writesFor(run int64, plan, attempt int) {
	s.t.Helper()
	s.exec(fmt.Sprintf("SET cs9.run_id = '%d'", run))
	s.exec(fmt.Sprintf("SET cs9.plan = '%d'", plan))
	s.exec(fmt.Sprintf("SET cs9.attempt = '%d'", attempt))
	s.exec("SELECT set_config('cs9.taking', taking::text, false) FROM cs9.plan WHERE run_id = $1 AND plan = $2", run, plan)
}

func (s *session) finish() error { return s.try("SELECT cs9.finish_run($1, $2)", s.run, s.attempt) }

func (s *session) live() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn,
		`SELECT coalesce(string_agg(format('%s%s=%s', left(region, 1), week, n), ' ' ORDER BY region, week), '') FROM anon.anon_rebuild_counts`)
}

const (
	oldRows = "n1=0 n2=0 n3=0 n4=0 n5=0"
	newRows = "n1=11 n3=13 s2=12"
)

func (s *session) runState(key string) string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn,
		"SELECT state FROM cs9.run_status WHERE task = 't' AND run_key = $1 ORDER BY run_id DESC LIMIT 1", key)
}

// nothingLeft checks that no staged table is left over.
func (s *session) nothingLeft() {
	s.t.Helper()
	require.Zero(s.t, pgtest.Scalar[int](s.t, s.conn, "SELECT count(*)::integer FROM pg_tables WHERE schemaname = 'cs9_staging'"))
	require.Zero(s.t, pgtest.Scalar[int](s.t, s.conn, "SELECT count(*)::integer FROM cs9.staged_delete"))
}

// drop ends the session as a crash of its client would, and waits until the
// server has noticed.
func (s *session) drop(watch *session) {
	s.t.Helper()
	pid := s.conn.PgConn().PID()
	watch.exec("SELECT pg_terminate_backend($1, 10000)", int(pid))
	require.Zero(s.t, pgtest.Scalar[int](s.t, watch.conn, "SELECT count(*)::integer FROM pg_stat_activity WHERE pid = $1", int(pid)))
	_ = s.conn.Close(context.Background())
}
