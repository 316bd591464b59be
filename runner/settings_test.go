package runner_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// hostile are settings of a database or a role that would stop a run, or change
// what it means.
var hostile = map[string]string{
	"statement_timeout": "'200ms'", "idle_in_transaction_session_timeout": "'200ms'", "idle_session_timeout": "'200ms'",
	"default_transaction_isolation": "'repeatable read'", "default_transaction_read_only": "on", "standard_conforming_strings": "off",
	"client_encoding": "latin1", "array_nulls": "off", "transform_null_equals": "on", "client_connection_check_interval": "0",
	"default_transaction_deferrable": "on",
}

// TestSessionsDoNotCountOnTheSettingsOfDatabaseOrRole runs a task with parallel
// plans whose workers wait for their source, where each setting of the database,
// or of the role, would stop it.
func TestSessionsDoNotCountOnTheSettingsOfDatabaseOrRole(t *testing.T) {
	for _, of := range []string{"database", "role"} {
		t.Run(of, func(t *testing.T) {
			f := newFixture(t)
			f.exec("SET default_transaction_read_only = off", "SET statement_timeout = 0", "SET idle_session_timeout = 0")
			name := pgtest.Scalar[string](t, f.conn, "SELECT current_database()")
			target, at := "DATABASE "+name, f.url
			if of == "role" {
				role := "hostile_" + name
				target = "ROLE " + role
				f.exec("CREATE ROLE " + role + " LOGIN SUPERUSER PASSWORD 'secret'")
				u, err := url.Parse(f.url)
				if err != nil {
					t.Fatal(err)
				}
				u.User = url.UserPassword(role, "secret")
				at = u.String()
			}
			for setting, value := range hostile {
				f.exec(fmt.Sprintf("ALTER %s SET %s = %s", target, setting, value))
			}
			r, err := runner.New(pgtest.Pool(t, at), &runner.Config{AliveGrace: -1, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			task := stepsTask(clearAndInsert(count{1, `a\'é`, 1}),
				f.insertWhenIdle(count{2, "a", 1}), f.insertWhenIdle(count{3, "a", 1}), f.insertWhenIdle(count{4, "a", 1}), insert(count{5, "a", 1}))
			task.Cores = 3
			for key, opts := range modes {
				if key != "direct" {
					opts = append(opts, runner.Movers(2))
				}
				if _, err := task.Run(t.Context(), r, opts...); err != nil {
					t.Errorf("%s: %v", key, err)
				}
				f.wantCounts(`1 a\'é 1, 2 a 1, 3 a 1, 4 a 1, 5 a 1`)
			}
		})
	}
}

// insertWhenIdle inserts when the run's sessions have been idle for longer than
// the limits in hostile.
func (f *fixture) insertWhenIdle(rows ...count) step {
	return func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		waited := func(yield func(count, error) bool) {
			if err := f.awaitIdle(ctx); err != nil {
				yield(count{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
		if err := f.awaitIdle(ctx); err != nil {
			return err
		}
		return tables["counts"].Insert(ctx, runner.Seq(waited))
	}
}

// awaitIdle waits until this moment is 300 ms ago to the database, longer
// than each limit.
func (f *fixture) awaitIdle(ctx context.Context) error {
	cfg, err := pgx.ParseConfig(f.url)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["statement_timeout"], cfg.RuntimeParams["idle_session_timeout"] = "0", "0"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	_, err = conn.Exec(ctx, "SELECT pg_sleep(0.3)")
	return err
}

// TestSettingsOfAPublishComeFromTheConnection: PostgreSQL takes them from whoever
// connects, and attaches them to a role for a superuser, or who got that right.
func TestSettingsOfAPublishComeFromTheConnection(t *testing.T) {
	f := newFixture(t)
	role := "setter_" + pgtest.Scalar[string](t, f.conn, "SELECT current_database()")
	f.exec("CREATE ROLE " + role + " LOGIN CREATEROLE PASSWORD 'secret'")
	u, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "secret")
	q := u.Query()
	q.Set("options", "-c cs9.lock_timeout=5s")
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	conn := pgtest.Connect(t, u.String())
	if got := pgtest.Scalar[string](t, conn, "SELECT current_setting('cs9.lock_timeout')"); got != "5s" {
		t.Errorf("lock_timeout is %s", got)
	}
	alter := "ALTER ROLE " + role + " SET cs9.lock_timeout = '5s'"
	var pgErr *pgconn.PgError
	if _, err := conn.Exec(t.Context(), alter); !errors.As(err, &pgErr) || pgErr.Code != "42501" {
		t.Errorf("ALTER ROLE: %v", err)
	}
	if pgtest.Scalar[int](t, f.conn, "SELECT current_setting('server_version_num')::integer") >= 150000 {
		f.exec("GRANT SET ON PARAMETER cs9.lock_timeout TO " + role)
		pgtest.Exec(t, conn, alter)
		f.exec("DROP OWNED BY " + role)
	}
	f.exec(alter, "DROP ROLE "+role)
}
