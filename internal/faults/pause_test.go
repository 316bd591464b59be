package faults_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// Whoever cancels a publish while it pauses between two tries at a lock leaves no
// lock of its own behind.
func TestCancelledPauseGivesTheTaskBack(t *testing.T) {
	f := newFixture(t)
	f.stoppedPublish(stepsTask(clearAndInsert(series("a", 1, 10, 1)...), nothing), "k")
	reader := f.session("BEGIN", "LOCK TABLE anon.counts IN ACCESS SHARE MODE")
	client := f.session("SET cs9.lock_timeout = '20ms'", "SET cs9.lock_backoff = '60s'")
	done := make(chan error, 1)
	go func() {
		_, err := client.Exec(context.WithoutCancel(f.Context()), "CALL cs9.publish('counts', 'k', 1)", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	f.awaitTrue("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep')")
	if err := client.PgConn().CancelRequest(f.Context()); err != nil {
		f.Error(err)
	}
	f.Log(<-done)
	f.wantGivenBack()
	pgtest.Exec(f.T, reader, "ROLLBACK")
}
