package readers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// lab is a database of one mode: the session that stages and publishes, and the
// readers beside it.
type lab struct {
	*testing.T
	mode string
	url  string
	conn *pgx.Conn // stages and publishes

	mu      sync.Mutex
	records map[string]*record // by reader
	pids    map[uint32]string  // of the pollers' sessions: reader
	bad     int
}

func newLab(t *testing.T, mode string) *lab {
	t.Helper()
	definitions, err := os.ReadFile("testdata/tables.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tables.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(definitions), "MODE", mode)), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &lab{T: t, mode: mode, url: pgtest.NewDatabase(t, file), records: map[string]*record{}, pids: map[uint32]string{}}
	l.conn = l.session(
		"SET client_min_messages = warning",
		"SET cs9.lock_retries = '1000'", "SET cs9.lock_backoff = '1ms'")
	// autovacuum locks a table that it truncates, and readers would wait for it
	pgtest.Exec(t, l.conn, "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()")
	l.install()
	l.stage(0, nil)
	l.publish(0)
	return l
}

// install makes what the readers call.
func (l *lab) install() {
	l.Helper()
	all, err := os.ReadFile("testdata/readers.sql")
	if err != nil {
		l.Fatal(err)
	}
	one, err := os.ReadFile("testdata/table.sql")
	if err != nil {
		l.Fatal(err)
	}
	pgtest.Exec(l, l.conn, string(all))
	for _, table := range tables {
		pgtest.Exec(l, l.conn, strings.ReplaceAll(string(one), "@table", table))
	}
}

// session is another client of the database.
func (l *lab) session(statements ...string) *pgx.Conn {
	l.Helper()
	conn := pgtest.Connect(l, l.url)
	pgtest.Exec(l, conn, statements...)
	return conn
}

// readerSession is a session that reads. In a mode in which readers never wait,
// each wait for a lock is an error: no lock is waited for longer than 1 ms.
func (l *lab) readerSession(statements ...string) *pgx.Conn {
	l.Helper()
	conn := l.session(statements...)
	if waits[l.mode] == never {
		pgtest.Exec(l, conn, "SET lock_timeout = '1ms'")
	}
	return conn
}

// moment is what is done at points of a run, by name.
type moment struct {
	afterFirstPlan, beforeFinish func()
}

// stage runs the three plans of a generation, and makes the run ready.
func (l *lab) stage(gen int, at *moment) {
	l.Helper()
	var run int64
	var attempt int
	err := l.conn.QueryRow(l.Context(), `SELECT run_id, attempt FROM cs9.begin_run('readers', $1,
		'{readers.one,readers.parts}', '[{"p": 1}, {"p": 2}, {"p": 3}]')`, key(gen)).Scan(&run, &attempt)
	if err != nil {
		l.Fatal(err)
	}
	for plan := 1; plan <= 3; plan++ {
		if _, err := l.conn.Exec(l.Context(), "SELECT readers.stage($1, $2, $3, $4)", run, plan, attempt, gen); err != nil {
			l.Fatal(err)
		}
		if plan == 1 && at != nil {
			at.afterFirstPlan()
		}
	}
	if at != nil {
		at.beforeFinish()
	}
	if _, err := l.conn.Exec(l.Context(), "SELECT cs9.finish_run($1, $2)", run, attempt); err != nil {
		l.Fatal(err)
	}
}

// publish publishes a generation, in batches of 8 rows.
func (l *lab) publish(gen int) {
	l.Helper()
	if err := l.tryPublish(l.Context(), gen); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) tryPublish(ctx context.Context, gen int) error {
	_, err := l.conn.Exec(ctx, fmt.Sprintf("CALL cs9.publish('readers', '%s', 8)", key(gen)))
	return err
}

func key(gen int) string { return fmt.Sprintf("generation %d", gen) }
