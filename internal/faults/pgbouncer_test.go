package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

func findPgbouncer(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "there is no pgbouncer; type: sudo apt-get install --yes pgbouncer"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// pgbouncer starts the proxy in front of the server, as a user that is not root,
// and returns the URL of the database through it.
func (f *fixture) pgbouncer(mode string, settings ...string) string {
	f.Helper()
	path := findPgbouncer(f.T)
	dir, attr := f.ownedFolder()
	port := freePort(f.T)
	server := pgtest.Server(f.T)
	config := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d user=postgres password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
%s
`, server.Port(), server.Password(), port, mode, strings.Join(settings, "\n"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		f.Fatal(err)
	}
	if attr.Credential != nil {
		if err := os.Chown(file, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			f.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(f.Context()), path, file)
	cmd.Dir, cmd.SysProcAttr = dir, attr
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if f.Failed() {
			f.Logf("pgbouncer: %s", log.String())
		}
	})
	proxied, err := url.Parse(f.url)
	if err != nil {
		f.Fatal(err)
	}
	proxied.Host = fmt.Sprintf("127.0.0.1:%d", port)
	f.awaitProxy(proxied.String())
	return proxied.String()
}

func (f *fixture) awaitProxy(url string) {
	f.Helper()
	for start := time.Now(); ; {
		conn, err := pgx.Connect(f.Context(), url)
		if err == nil {
			_ = conn.Close(f.Context())
			return
		}
		if time.Since(start) > 20*time.Second {
			f.Fatalf("pgbouncer does not answer: %v", err)
		}
	}
}

// ownedFolder is a temporary folder of the user that pgbouncer runs as.
func (f *fixture) ownedFolder() (string, *syscall.SysProcAttr) {
	f.Helper()
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return f.TempDir(), attr
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		f.Fatal(err)
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
	dir, err := os.MkdirTemp("/tmp", "cs9gen-pgbouncer-") // where that user can go, unlike TMPDIR perhaps
	if err := errors.Join(errUID, errGID, err); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		f.Fatal(err)
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return dir, attr
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it is given away
	return l.Addr().(*net.TCPAddr).Port
}

// Sessions that a proxy pools are sessions: all of a task works through them.
func TestPgbouncerThatPoolsSessionsWorks(t *testing.T) {
	f := newFixture(t)
	proxied := f.pgbouncer("session")
	r := f.runnerAt(proxied)
	fail := failing
	task := stepsTask(clearAndInsert(series("a", 1, 10, 1)...), insert(series("b", 1, 10, 1)...), insert(series("c", 1, 10, 1)...),
		func(ctx context.Context, run runner.Run, h runner.Handles) error { return fail(ctx, run, h) })
	task.Cores = 3
	_, err := task.Run(t.Context(), r, runner.RunKey("k"))
	f.wantIs(err, errStep)
	fail = nothing
	result, err := task.Run(t.Context(), r, runner.RunKey("k"), runner.BatchRows(7))
	if err != nil || result.Attempt != 2 || len(result.PlansSkipped) != 2 {
		t.Errorf("result %+v, %v", result, err)
	}
	f.want("30 30", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")

	// a client that goes without a word gives its task back
	gone, err := pgx.Connect(t.Context(), proxied)
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, gone, "SELECT cs9.claim_run('counts', 'k2')")
	_, err = stepsTask(nothing).Run(t.Context(), f.runnerAt(proxied, atOnce), runner.RunKey("k2"))
	f.wantIs(err, runner.ErrRunAlive)
	_ = gone.PgConn().Conn().Close() // of the socket: no goodbye
	if _, err := stepsTask(upsert(count{1, "a", 2})).Run(t.Context(), r, runner.RunKey("k2")); err != nil {
		t.Error(err)
	}
	if _, err := r.Publish(t.Context(), "counts", "k2"); !errors.Is(err, runner.ErrPublished) {
		t.Errorf("got %v", err)
	}
	f.want("31", "SELECT sum(n)::text FROM anon.counts")
	f.wantClean()
}

// poolsOfTransactions are proxies that give each transaction, or each statement,
// to another session of the server: their settings.
var poolsOfTransactions = map[string][]string{
	"the last session first": nil,
	"sessions in turn":       {"server_round_robin = 1"},
	"one session":            {"default_pool_size = 1"},
	"statements":             {"pool_mode = statement"},
}

// Behind a proxy that pools transactions no session owns anything for long: a
// run is refused before it takes a lock or writes a row, and nothing is left in
// the sessions that others get.
func TestPgbouncerThatPoolsTransactionsIsRefused(t *testing.T) {
	for name, settings := range poolsOfTransactions {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			proxied := f.pgbouncer("transaction", settings...)
			// several sessions are open, as behind a proxy in use
			if settings == nil || strings.Contains(settings[0], "round_robin") {
				f.openSessions(proxied, 2)
			}
			r := f.runnerAt(proxied)
			task := stepsTask(insert(count{1, "a", 1}), nothing)
			_, err := task.Run(t.Context(), r, runner.RunKey("k"))
			f.wantRefused(err)
			_, err = r.Publish(t.Context(), "counts", "k")
			f.wantRefused(err)
			f.wantRefused(r.Discard(t.Context(), "counts", "k", true))
			f.want("0", "SELECT count(*)::text FROM cs9.run")
			f.wantClean()

			f.mustRun(task, runner.RunKey("k")) // straight to the server it works
			// looking at runs needs no session, unless each statement goes to another one
			if runs, err := r.Runs(t.Context(), runner.RunFilter{}); settings == nil && (err != nil || len(runs) != 1) {
				t.Errorf("runs: %+v, %v", runs, err)
			}
			f.wantCounts("1 a 1")
		})
	}
}

func (f *fixture) wantRefused(err error) {
	f.Helper()
	f.wantIs(err, runner.ErrNotOwner)
	if err == nil || !strings.Contains(err.Error(), "pools transactions") || !strings.Contains(err.Error(), "pool_mode = session") {
		f.Errorf("the error does not say why: %v", err)
	}
}

// openSessions makes the proxy open n sessions of the server.
func (f *fixture) openSessions(url string, n int) {
	f.Helper()
	conns := make([]*pgx.Conn, n)
	for i := range conns {
		conns[i] = pgtest.Connect(f.T, url)
		if _, err := conns[i].Exec(f.Context(), "BEGIN"); err != nil {
			f.Fatal(err)
		}
	}
	for _, conn := range conns {
		pgtest.Exec(f.T, conn, "COMMIT")
	}
}

// Without a run key nothing outlives a transaction, and a proxy may pool them.
func TestPgbouncerThatPoolsTransactionsTakesDirectWrites(t *testing.T) {
	f := newFixture(t)
	r := f.runnerAt(f.pgbouncer("transaction"))
	if _, err := stepsTask(clearAndInsert(count{1, "a", 1}), upsert(count{1, "a", 2}, count{2, "a", 2})).Run(t.Context(), r); err != nil {
		t.Error(err)
	}
	f.wantCounts("1 a 2, 2 a 2")
}
