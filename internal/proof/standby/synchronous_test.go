package standby

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// waiter reads a table of the primary without pause. It gives up a wait for a
// lock after the two seconds that docs/operations.md names.
type waiter struct {
	conn    *pgx.Conn
	mode    string
	longest time.Duration
	err     error
	last    string
}

func (w *waiter) run(ctx context.Context) {
	for ctx.Err() == nil && w.err == nil {
		start := time.Now()
		what, err := seen(ctx, w.conn, w.mode)
		if ctx.Err() == nil {
			w.last, w.err = what, err
			w.longest = max(w.longest, time.Since(start))
		}
	}
}

// watch lets a reader of the primary read a table without pause, until the
// function that it returns is called. That fails the test where the reader has
// waited for a lock for longer than two seconds.
func watch(t *testing.T, connection, mode string) (end func()) {
	t.Helper()
	w := &waiter{conn: pgtest.Connect(t, connection), mode: mode}
	pgtest.Exec(t, w.conn, "SET lock_timeout = '2s'")
	ctx, stop := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() { w.run(ctx) })
	return func() {
		t.Helper()
		stop()
		reading.Wait()
		require.NoError(t, w.err, "a reader of the primary waited for a lock for longer than two seconds")
		t.Logf("the longest reading on the primary took %s", w.longest)
	}
}

// TestReadersOfThePrimaryDoNotWaitForASynchronousStandby publishes while a
// synchronous standby is slow (it has received and does not replay), and while
// it is down.
func TestReadersOfThePrimaryDoNotWaitForASynchronousStandby(t *testing.T) {
	l := newLab(t)
	admin := pgtest.Connect(t, l.url)
	system := func(statements ...string) {
		t.Helper()
		pgtest.Exec(t, admin, "SET synchronous_commit = local")
		pgtest.Exec(t, admin, statements...)
		pgtest.Exec(t, admin, "SELECT pg_reload_conf()")
	}
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), l.url)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		for _, sql := range []string{"ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
			_, err := conn.Exec(context.Background(), sql)
			require.NoError(t, err)
		}
	})
	s := l.standby("sync")
	system("ALTER SYSTEM SET synchronous_standby_names = 'sync'")
	await(t, "the standby is synchronous", func() bool {
		return pgtest.Scalar[bool](t, admin, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'sync' AND sync_state = 'sync')")
	})
	gen := 0
	for _, day := range []string{"slow", "down"} {
		for _, mode := range modes {
			if !atLength() && (day == "down") != (mode == "atomic") {
				continue // each mode and each day once
			}
			t.Run(day+", "+mode, func(t *testing.T) {
				s.T = t
				gen++
				publisher := pgtest.Connect(t, l.url)
				pgtest.Exec(t, publisher, "SET synchronous_commit = local")
				stage(t, publisher, mode, gen)
				mustPublish(t, publisher, mode, gen)
				gen++
				stage(t, publisher, mode, gen)
				pgtest.Exec(t, publisher, "SELECT cs9.release_run('"+mode+"')")
				if day == "slow" {
					s.catchUp()
					pgtest.Exec(t, s.admin(), "SELECT pg_wal_replay_pause()")
				} else {
					require.NoError(t, s.server.Crash())
					await(t, "the primary has noticed", func() bool {
						return pgtest.Scalar[bool](t, admin, "SELECT NOT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'sync')")
					})
				}
				warned := publishBesideAReader(t, l, mode, gen, func(pid int) {
					if day == "slow" {
						pgtest.Exec(t, s.admin(), "SELECT pg_wal_replay_resume()")
					} else {
						pgtest.Exec(t, admin, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid))
					}
				})
				require.Equal(t, day == "down", strings.Contains(warned, "canceling wait for synchronous replication"), warned)
				require.Equal(t, "published", pgtest.Scalar[string](t, admin, "SELECT state FROM cs9.run WHERE run_key = $1", key(gen)))
				if day == "down" {
					require.NoError(t, s.server.Restart(t.Context()))
					s.conn = nil
				}
				s.catchUp()
				s.sees(mode, key(gen))
			})
		}
	}
}

// publishBesideAReader publishes with synchronous_commit = remote_apply. When
// the CALL waits for the standby, everything but its end is done and seen; then
// go on lets it end. It returns the warnings of the CALL.
func publishBesideAReader(t *testing.T, l *lab, mode string, gen int, goOn func(pid int)) (warned string) {
	t.Helper()
	watched := watch(t, l.url, mode)
	cfg := l.conn.Config().Copy()
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Severity == "WARNING" {
			warned += n.Message
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer conn.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	pgtest.Exec(t, conn, "SET synchronous_commit = remote_apply")
	ended := make(chan error, 1)
	go func() { ended <- publish(t.Context(), conn, mode, gen) }()

	other := pgtest.Connect(t, l.url)
	await(t, "the CALL waits for the standby", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the CALL ended: %v", err)
		default:
		}
		return pgtest.Scalar[bool](t, other, "SELECT coalesce((SELECT wait_event = 'SyncRep' FROM pg_stat_activity WHERE pid = $1), false)", int(conn.PgConn().PID()))
	})
	mustSee(t, other, mode, key(gen)) // all of it is done and seen
	require.Zero(t, pgtest.Scalar[int](t, other, `SELECT count(*)::integer FROM pg_locks
		WHERE pid = $1 AND relation IN (SELECT relid FROM pg_partition_tree(to_regclass($2)))`, int(conn.PgConn().PID()), "hot."+mode),
		"no lock on the table is held meanwhile")
	goOn(int(conn.PgConn().PID()))
	require.NoError(t, <-ended)
	watched()
	return warned
}
