package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3/lock"

	"github.com/cs9gen/cs9gen/internal/pgsession"
)

// ErrBusy says that another session is migrating the database, and did not end
// in time.
var ErrBusy = errors.New("another session is migrating this database")

// DefaultWait is how long a migration waits for another one to end.
const DefaultWait = 5 * time.Minute

// again is how often it looks whether that one has ended.
const again = 250 * time.Millisecond

// sessionLock is goose's own lock, an advisory lock of a session, so that a stock
// goose waits for it too. The session must be one of the server's: a proxy that
// pools transactions would keep the lock when the migration has ended.
type sessionLock struct{ m *Migrator }

// holder says which session has the lock of goose.
const holder = `
	SELECT pg_catalog.format('process %s of the server (%s, user %s, connected since %s)', a.pid,
		coalesce(nullif(a.application_name, ''), 'without a name'), coalesce(a.usename, '?'),
		pg_catalog.to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"'))
	FROM pg_catalog.pg_locks AS l
	JOIN pg_catalog.pg_stat_activity AS a ON a.pid = l.pid
	WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
	  AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
	  AND (l.classid::bigint << 32) | l.objid::bigint = $1`

// SessionLock waits for the lock that one migration at a time holds, as long as
// [Migrator.Wait] says.
func (l sessionLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := conn.Raw(func(raw any) error { return l.m.assertSession(ctx, raw.(*stdlib.Conn).Conn().PgConn()) }); err != nil {
		return err //nolint:wrapcheck // goose wraps it
	}
	giveUp := time.Now().Add(l.m.Wait)
	for told := false; ; {
		var locked bool
		if err := conn.QueryRowContext(ctx, "SELECT pg_catalog.pg_try_advisory_lock($1)", lock.DefaultLockID).Scan(&locked); err != nil {
			return err //nolint:wrapcheck // goose wraps it
		}
		if locked {
			return nil
		}
		who := "a session that has just ended"
		if err := conn.QueryRowContext(ctx, holder, lock.DefaultLockID).Scan(&who); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err //nolint:wrapcheck // goose wraps it
		}
		if !time.Now().Before(giveUp) {
			return &busy{who: who, waited: l.m.Wait}
		}
		if !told && l.m.Waiting != nil {
			l.m.Waiting(who)
		}
		told = true
		select {
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // goose wraps it
		case <-time.After(again):
		}
	}
}

// SessionUnlock gives it back.
func (l sessionLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	var unlocked bool
	err := conn.QueryRowContext(ctx, "SELECT pg_catalog.pg_advisory_unlock($1)", lock.DefaultLockID).Scan(&unlocked)
	if err == nil && !unlocked {
		return errors.New("the lock of migrations was lost: the session does not hold it any more")
	}
	return err //nolint:wrapcheck // goose wraps it
}

// busy is an ErrBusy that knows who.
type busy struct {
	who    string
	waited time.Duration
}

func (b *busy) Error() string {
	return fmt.Sprintf("%v: waited %s for %s", ErrBusy, b.waited, b.who)
}

// Is makes it an ErrBusy.
func (b *busy) Is(target error) bool { return target == ErrBusy }

const busyHint = "run it again when that one has ended; a session that holds the lock and migrates nothing, such as one that a pool kept, is ended by pg_terminate_backend"

// assertSession refuses a proxy that pools transactions, where the lock would
// stay in a session that others get.
func (m *Migrator) assertSession(ctx context.Context, conn *pgconn.PgConn) error {
	proxied, err := pgsession.Proxied(ctx, conn)
	if err != nil || !proxied {
		return err //nolint:wrapcheck // goose wraps it
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeWait, fmt.Errorf("the proxy gave no second connection within %s", probeWait))
	defer cancel()
	other, err := pgx.ConnectConfig(ctx, m.cfg)
	if err != nil {
		return err //nolint:wrapcheck // goose wraps it
	}
	defer other.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	if err := pgsession.AssertOwn(ctx, conn, other.PgConn()); err != nil {
		return err //nolint:wrapcheck // goose wraps it
	}
	return pgsession.Prepare(ctx, conn) //nolint:wrapcheck // goose wraps it
}

// probeWait is how long a proxy may take to give the second connection that
// tells how it pools.
const probeWait = 10 * time.Second

// settle gives a connection its settings, unless a proxy lends it: see assertSession.
func settle(ctx context.Context, conn *pgx.Conn) error {
	proxied, err := pgsession.Proxied(ctx, conn.PgConn())
	if err != nil || proxied {
		return err //nolint:wrapcheck // it says what it did
	}
	return pgsession.Prepare(ctx, conn.PgConn()) //nolint:wrapcheck // it says what it did
}
