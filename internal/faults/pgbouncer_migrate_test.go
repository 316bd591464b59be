package faults_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/internal/pgsession"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// migrator applies a folder of one migration at a URL.
func (f *fixture) migrator(url, table string) *migrate.Migrator {
	f.Helper()
	dir := f.TempDir()
	text := "-- +goose Up\nCREATE TABLE " + table + " ();\n-- +goose Down\nDROP TABLE " + table + ";\n"
	if err := os.WriteFile(filepath.Join(dir, "00009_"+table+".sql"), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		f.Fatal(err)
	}
	m, err := migrate.Open(cfg, dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := m.Close(); err != nil {
			f.Error(err)
		}
	})
	return m
}

// locksAndTable counts the advisory locks of this database, and names the table
// that the migration makes.
const locksAndTable = `SELECT count(*) || ' ' || coalesce(to_regclass('later')::text, '') FROM pg_locks
	WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// A lock of a session stays behind in a pool of transactions, and the next
// deployment would wait for it: the migration is refused before it takes it.
func TestPgbouncerThatPoolsTransactionsIsRefusedByMigrate(t *testing.T) {
	for name, settings := range poolsOfTransactions {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			proxied := f.pgbouncer("transaction", settings...)
			if settings == nil {
				f.openSessions(proxied, 2)
			}
			_, err := f.migrator(proxied, "later").Up(t.Context())
			var failed *migrate.Error
			if !errors.Is(err, pgsession.ErrPooled) || !errors.As(err, &failed) || failed.Hint != pgsession.DirectHint {
				t.Errorf("got %v", err)
			}
			f.want("0 ", locksAndTable)
			if _, err := f.migrator(f.url, "later").Up(t.Context()); err != nil { // straight to the server, at once
				t.Error(err)
			}
		})
	}
}

func TestPgbouncerThatPoolsSessionsMigrates(t *testing.T) {
	f := newFixture(t)
	proxied := f.pgbouncer("session", "server_reset_query =")
	if _, err := f.migrator(proxied, "later").Up(t.Context()); err != nil {
		t.Error(err)
	}
	f.want("0 later", locksAndTable)
}

// What a run sets in a session that a proxy lends is not there for who gets the
// session next, though the proxy resets nothing.
func TestPgbouncerGetsItsSessionsBackAsTheyWere(t *testing.T) {
	for name, run := range map[string]func(f *fixture, r *runner.Runner) error{
		"a run": func(f *fixture, r *runner.Runner) error {
			_, err := stepsTask(insert(count{1, "a", 1}), nothing).Run(f.Context(), r, runner.RunKey("k"), runner.Movers(2))
			return err
		},
		"direct writes": func(f *fixture, r *runner.Runner) error {
			_, err := stepsTask(upsert(count{1, "a", 1})).Run(f.Context(), r)
			return err
		},
		"a failed run": func(f *fixture, r *runner.Runner) error {
			_, err := stepsTask(failing).Run(f.Context(), r, runner.RunKey("k"))
			if !errors.Is(err, errStep) {
				return errors.Join(errors.New("the run did not fail"), err)
			}
			return nil
		},
	} {
		for _, mode := range []string{"session", "transaction"} {
			if mode == "transaction" && name != "direct writes" {
				continue
			}
			t.Run(name+", "+mode, func(t *testing.T) {
				f := newFixture(t)
				f.exec("ALTER DATABASE " + pgtest.Scalar[string](t, f.conn, "SELECT current_database()") + " SET statement_timeout = '59s'")
				proxied := f.pgbouncer(mode, "server_reset_query =", "default_pool_size = 4")
				if err := run(f, f.runnerAt(proxied)); err != nil {
					t.Fatal(err)
				}
				var conns [4]*pgx.Conn // all that the proxy has
				for i := range conns {
					conns[i] = pgtest.Connect(t, proxied)
					pgtest.Exec(t, conns[i], "BEGIN")
					got := pgtest.Scalar[string](t, conns[i], `SELECT concat_ws(' ', current_setting('statement_timeout'), current_setting('client_connection_check_interval'),
						coalesce(current_setting('cs9.op', true), ''), coalesce(current_setting('cs9.lock_timeout', true), ''), current_setting('idle_session_timeout'))`)
					if got != "59s 0   0" && got != "59s 0 0" {
						t.Errorf("session %d: %s", i+1, got)
					}
				}
			})
		}
	}
}
