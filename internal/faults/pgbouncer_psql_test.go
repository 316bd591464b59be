package faults_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// eachPool runs a test with a proxy of each way to pool.
func eachPool(t *testing.T, test func(f *fixture, proxied string)) {
	for name, settings := range map[string][]string{
		"session":          {"pool_mode = session"},
		"transaction":      {"pool_mode = transaction"},
		"sessions in turn": {"pool_mode = transaction", "server_round_robin = 1"},
		"statement":        {"pool_mode = statement"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			// so that who has to wait for a lock does, whatever session it has
			f.exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET cs9.lock_timeout = ''60s''', current_database()); END $$")
			test(f, f.pgbouncer("session", settings...))
		})
	}
}

// A proxy gives a client no other session before its statement has ended, and a
// CALL is one statement, however often it commits: the lock is taken and given
// back in one session.
func TestPgbouncerPsqlPublishesThroughAnyPool(t *testing.T) {
	eachPool(t, func(f *fixture, proxied string) {
		f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
		f.stoppedPublish(stepsTask(clearAndInsert(series("a", 1, 30, 1)...), nothing), "k")
		reader := f.session("BEGIN", "LOCK TABLE anon.counts IN ACCESS SHARE MODE")
		first := make(chan error, 1)
		go func() {
			_, stderr, err := pgtest.Psql(f.T, proxied, "-c", "CALL cs9.publish('counts', 'k', 1)")
			if err != nil {
				err = errors.New(stderr)
			}
			first <- err
		}()
		f.awaitTrue(waitsFor, "anon.counts", "AccessExclusiveLock")
		f.publishByPsqlAt(proxied, "k", "S9001")
		f.publishByPsql("k", "S9001")
		pgtest.Exec(f.T, reader, "ROLLBACK")
		if err := <-first; err != nil {
			f.Errorf("the first psql: %v", err)
		}
		f.publishByPsqlAt(proxied, "k", "S9004")
		f.want("30 30", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
		f.wantClean()
	})
}

// An error that is not cs9gen's own gives the task back as well: a proxy that
// pools transactions keeps the session, and nobody would be left to end it.
func TestPgbouncerFailedCallGivesItsTaskBack(t *testing.T) {
	eachPool(t, func(f *fixture, proxied string) {
		writer := f.session("BEGIN", "INSERT INTO anon.counts VALUES (15, 'a', 9)")
		_, err := stepsTask(insert(series("a", 1, 30, 1)...), nothing).Run(f.Context(), f.newRunner(noPatience), runner.RunKey("k"), runner.BatchRows(10))
		f.wantIs(err, runner.ErrPublishStopped)
		pgtest.Exec(f.T, writer, "COMMIT")
		f.publishByPsqlAt(proxied, "k", "23505")
		f.wantGivenBack()
		f.exec("DELETE FROM anon.counts WHERE n = 9")
		f.want("publishing 10", "SELECT state || ' ' || rows_published FROM cs9.run_status")
		f.publishByPsql("k", "")
		f.want("30 30", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
		f.wantClean()
	})
}

// wantGivenBack checks that no session owns a task, though the one that did
// lives on.
func (f *fixture) wantGivenBack() {
	f.Helper()
	f.want("false 0", `SELECT owner_alive || ' ' || (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) FROM cs9.run_status`)
}

// callBehindAReader is a client in the middle of its CALL, which a reader of the
// table makes wait until goOn.
func (f *fixture) callBehindAReader(proxied string) (client *pgx.Conn, ended <-chan error, goOn func()) {
	f.Helper()
	f.stoppedPublish(stepsTask(clearAndInsert(series("a", 1, 500, 1)...), nothing), "k")
	reader := f.session("BEGIN", "LOCK TABLE anon.counts IN ACCESS SHARE MODE")
	client = pgtest.Connect(f.T, proxied)
	done := make(chan error, 1)
	go func() {
		_, err := client.Exec(context.WithoutCancel(f.Context()), "CALL cs9.publish('counts', 'k', 1)", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	f.awaitTrue(waitsFor, "anon.counts", "AccessExclusiveLock")
	return client, done, func() { f.Helper(); pgtest.Exec(f.T, reader, "ROLLBACK") }
}

// So does Ctrl-C, where the publish waits for a lock.
func TestPgbouncerCancelledCallGivesItsTaskBack(t *testing.T) {
	eachPool(t, func(f *fixture, proxied string) {
		client, ended, goOn := f.callBehindAReader(proxied)
		if err := client.PgConn().CancelRequest(f.Context()); err != nil {
			f.Error(err)
		}
		var refusal *pgconn.PgError
		if err := <-ended; !errors.As(err, &refusal) || refusal.Code != "57014" {
			f.Errorf("the cancelled CALL: %v", err)
		}
		f.wantGivenBack() // the client is still there
		goOn()
		f.publishByPsqlAt(proxied, "k", "")
		f.want("500 500", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
		f.wantClean()
	})
}

// A client that goes in the middle of its CALL takes the session along: the
// publish stops, and the task is given back.
func TestPgbouncerClientThatGoesGivesItsTaskBack(t *testing.T) {
	eachPool(t, func(f *fixture, proxied string) {
		client, ended, goOn := f.callBehindAReader(proxied)
		_ = client.PgConn().Conn().Close() // of the socket: no goodbye
		if err := <-ended; err == nil {
			f.Error("the CALL of a client that has gone ended well")
		}
		goOn()
		f.awaitTrue("SELECT NOT owner_alive FROM cs9.run_status")
		f.want("publishing", "SELECT state FROM cs9.run_status")
		f.publishByPsqlAt(proxied, "k", "")
		f.want("500 500", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
		f.wantClean()
	})
}
