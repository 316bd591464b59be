package standby

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// inside is set in the test program that TestAHostThatVanishesGivesItsTasksBack
// starts in a network of its own.
const inside = "CS9GEN_STANDBY_INSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" {
		pgtest.Main(m) // the driver still tries to cancel what nothing answers
	}
	pgtest.Main(m, stopShared, pgtest.NoGoroutineLeft)
}

// shared is the standby of the tests that only read there. It ends with the
// test program.
var shared *pgserver.Server

func stopShared(code int) int {
	if shared == nil {
		return code
	}
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

var modes = []string{"batched", "atomic", "swap"}

const definitions = "testdata/tables.yaml"

// publishes is how often each mode is published beside the readers: once in go
// test, and 30 times in make standby.
func publishes(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CS9GEN_STANDBY_PUBLISHES")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// atLength reports whether this is make standby.
func atLength() bool { return os.Getenv("CS9GEN_STANDBY_PUBLISHES") != "" }

// rows is how many rows a generation of a table has.
const rows = 60

// lab is a database on the primary, with a table of each mode.
type lab struct {
	*testing.T
	url  string
	conn *pgx.Conn
}

func newLab(t *testing.T) *lab {
	t.Helper()
	return labIn(t, pgtest.NewDatabase(t, definitions))
}

func labIn(t *testing.T, url string) *lab {
	t.Helper()
	return &lab{T: t, url: url, conn: pgtest.Connect(t, url)}
}

// publishedLab is a lab in which each table holds generation 1.
func publishedLab(t *testing.T) *lab {
	t.Helper()
	return labIn(t, pgtest.FilledDatabase(t, "published", func(url string) { fill(t, url, false) }, definitions))
}

// readyLab is a publishedLab in which generation 2 of each table is ready, and
// nobody owns its task.
func readyLab(t *testing.T) *lab {
	t.Helper()
	return labIn(t, pgtest.FilledDatabase(t, "ready", func(url string) { fill(t, url, true) }, definitions))
}

func fill(t *testing.T, url string, ready bool) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	for _, mode := range modes {
		stage(t, conn, mode, 1)
		mustPublish(t, conn, mode, 1)
		if ready {
			stage(t, conn, mode, 2)
		}
	}
	require.NoError(t, conn.Close(t.Context()))
}

func (l *lab) exec(statements ...string) {
	l.Helper()
	pgtest.Exec(l.T, l.conn, statements...)
}

// key names the run that makes a generation.
func key(gen int) string { return fmt.Sprintf("generation %d", gen) }

// begin begins an attempt of the run that rebuilds the table of a mode.
func begin(t *testing.T, conn *pgx.Conn, mode string, gen int) (outcome string, run int64, attempt int) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT outcome, coalesce(run_id, 0), coalesce(attempt, 0) FROM cs9.begin_run($1, $2, $3, '[1, 2, 3]')",
		mode, key(gen), []string{"hot." + mode}).Scan(&outcome, &run, &attempt))
	return outcome, run, attempt
}

// plan runs a plan: the first empties the table, and each adds a third.
func plan(t *testing.T, conn *pgx.Conn, mode string, gen int, run int64, attempt, plan int) {
	t.Helper()
	if !pgtest.Scalar[bool](t, conn, "SELECT cs9.begin_plan($1, $2, $3)", run, plan, attempt) {
		return
	}
	if plan == 1 {
		pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.drop_all_rows('hot.%s')", mode))
	}
	staged := pgtest.Scalar[string](t, conn, "SELECT cs9.staging_table($1, $2)", run, "hot."+mode)
	pgtest.Exec(t, conn, fmt.Sprintf("INSERT INTO %s (id, gen) SELECT i, %d FROM generate_series(%d, %d) AS i", staged, gen, (plan-1)*rows/3+1, plan*rows/3),
		fmt.Sprintf("SELECT cs9.finish_plan(%d, %d, %d)", run, plan, attempt))
}

// stage does all of a run but its publish.
func stage(t *testing.T, conn *pgx.Conn, mode string, gen int) {
	t.Helper()
	outcome, run, attempt := begin(t, conn, mode, gen)
	require.Contains(t, []string{"new", "resumed"}, outcome)
	for p := 1; p <= 3; p++ {
		plan(t, conn, mode, gen, run, attempt, p)
	}
	pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", run, attempt))
}

func publish(ctx context.Context, conn *pgx.Conn, mode string, gen int) error {
	_, err := conn.Exec(ctx, fmt.Sprintf("CALL cs9.publish('%s', '%s', 7)", mode, key(gen)))
	return err
}

func mustPublish(t *testing.T, conn *pgx.Conn, mode string, gen int) {
	t.Helper()
	require.NoError(t, publish(t.Context(), conn, mode, gen))
}

// again does what a scheduler does that calls a key again: whatever the run has
// done, it ends published, and its table holds its generation.
func again(t *testing.T, conn *pgx.Conn, mode string, gen int) (outcome string) {
	t.Helper()
	outcome, run, attempt := begin(t, conn, mode, gen)
	switch outcome {
	case "published":
		return outcome
	case "publish":
	default:
		for p := 1; p <= 3; p++ {
			plan(t, conn, mode, gen, run, attempt, p)
		}
		pgtest.Exec(t, conn, fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", run, attempt))
	}
	mustPublish(t, conn, mode, gen)
	return outcome
}

// seen is what a reader sees of a table: "generation 3", "empty", "a part of
// generation 3", or what must never be seen.
func seen(ctx context.Context, q pgtest.Querier, mode string) (string, error) {
	var n, first, last int
	err := q.QueryRow(ctx, "SELECT count(*), coalesce(min(gen), 0), coalesce(max(gen), 0) FROM hot."+mode).Scan(&n, &first, &last)
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "empty", nil
	case first != last || n > rows:
		return fmt.Sprintf("%d rows of generations %d to %d", n, first, last), nil
	case n < rows:
		return "a part of " + key(first), nil
	}
	return key(first), nil
}

func mustSee(t *testing.T, q pgtest.Querier, mode, want string) {
	t.Helper()
	got, err := seen(t.Context(), q, mode)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// hotStandby is a standby of the primary.
type hotStandby struct {
	*testing.T
	server  *pgserver.Server
	primary *pgx.Conn
	url     string
	conn    *pgx.Conn
}

// standby starts one that streams under a name.
func (l *lab) standby(name string) *hotStandby {
	l.Helper()
	server, err := pgtest.Server(l.T).StartStandby(l.Context(), name, nil)
	require.NoError(l, err)
	l.Cleanup(func() { require.NoError(l, server.Stop()) })
	return l.on(server)
}

// sharedStandby is the one that is shared, with the settings that a test needs.
// It has all databases of the primary.
func (l *lab) sharedStandby(settings ...string) *hotStandby {
	l.Helper()
	if shared == nil {
		server, err := pgtest.Server(l.T).StartStandby(context.Background(), "shared", nil)
		require.NoError(l, err)
		shared = server
	}
	s := l.on(shared)
	s.set(settings...)
	return s
}

func (l *lab) on(server *pgserver.Server) *hotStandby {
	l.Helper()
	s := &hotStandby{T: l.T, server: server, primary: l.conn, url: server.URL(database(l.T, l.url))}
	s.catchUp()
	return s
}

func database(t *testing.T, connection string) string {
	t.Helper()
	u, err := url.Parse(connection)
	require.NoError(t, err)
	return strings.TrimPrefix(u.Path, "/")
}

// connect returns a session on the standby.
func (s *hotStandby) connect() *pgx.Conn {
	s.Helper()
	conn, err := pgx.Connect(s.Context(), s.url)
	require.NoError(s, err)
	s.Cleanup(func() { conn.Close(context.Background()) }) // it may be cut
	return conn
}

// sees checks what a new session on the standby sees.
func (s *hotStandby) sees(mode, want string) {
	s.Helper()
	conn := s.connect()
	mustSee(s.T, conn, mode, want)
	require.NoError(s, conn.Close(s.Context()))
}

// admin is the session with which the standby is asked and told.
func (s *hotStandby) admin() *pgx.Conn {
	s.Helper()
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := pgx.Connect(s.Context(), s.server.URL("postgres"))
		require.NoError(s, err)
		s.Cleanup(func() { conn.Close(context.Background()) })
		s.conn = conn
	}
	return s.conn
}

// set changes settings of the standby.
func (s *hotStandby) set(statements ...string) {
	s.Helper()
	for _, setting := range statements {
		pgtest.Exec(s.T, s.admin(), "ALTER SYSTEM SET "+setting)
	}
	pgtest.Exec(s.T, s.admin(), "SELECT pg_reload_conf()")
	for _, setting := range statements {
		name, _, _ := strings.Cut(setting, " ")
		s.await("a setting is read", func() bool {
			return pgtest.Scalar[bool](s.T, s.admin(), "SELECT sourcefile IS NOT NULL AND pending_restart = false FROM pg_settings WHERE name = $1", name)
		})
	}
}

// catchUp waits until the standby has replayed all that the primary has
// committed.
func (s *hotStandby) catchUp() {
	s.Helper()
	lsn := flushed(s.T, s.primary)
	s.await("the standby has replayed "+lsn, func() bool { return s.replayed(lsn) })
}

// flushed returns a point of the WAL behind all that the primary has committed
// and before which all is flushed. It commits something for that: what nothing
// flushes the server sends to nobody, until its writer wakes after some seconds.
func flushed(t *testing.T, conn *pgx.Conn) (lsn string) {
	t.Helper()
	pgtest.Exec(t, conn, "BEGIN", "SET LOCAL synchronous_commit = local", "SELECT pg_logical_emit_message(true, 'cs9gen', '')", "COMMIT")
	return pgtest.Scalar[string](t, conn, "SELECT pg_current_wal_flush_lsn()::text")
}

func (s *hotStandby) replayed(lsn string) bool {
	return pgtest.Scalar[bool](s.T, s.admin(), "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", lsn)
}

func (s *hotStandby) await(what string, done func() bool) {
	s.Helper()
	await(s.T, what, done)
}

// await waits for what can be seen.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if done() {
			return
		}
		select {
		case <-t.Context().Done():
		case <-time.After(5 * time.Millisecond): // until it is asked again
		}
	}
	t.Fatalf("after two minutes: not %s", what)
}

func sqlState(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		return pgErr.Code
	}
	return ""
}
