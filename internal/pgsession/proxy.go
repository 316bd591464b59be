package pgsession

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrPooled says that the statements of one connection reach several sessions of
// the server, as behind pgbouncer with pool_mode = transaction. No lock of a
// session and no setting is safe there.
var ErrPooled = errors.New("the connections go through a proxy that pools transactions: the statements of one connection reach several sessions of the server")

// DirectHint says what to do about [ErrPooled].
const DirectHint = "connect to the server itself, or to a pool of the proxy that pools sessions (pgbouncer: pool_mode = session)"

// ServerPID asks which process of the server serves a connection. It is one
// message to the server: behind a proxy, the next one may reach another session,
// which knows nothing of a statement that was prepared before.
func ServerPID(ctx context.Context, conn *pgconn.PgConn) (uint32, error) {
	results, err := conn.Exec(ctx, "SELECT pg_catalog.pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, fmt.Errorf("ask for the process of the session: %w", err)
	}
	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("ask for the process of the session: %w", err)
	}
	return uint32(pid), nil
}

// Proxied reports whether a connection goes through a proxy. A server tells its
// process id when a connection begins; who is told another one than the process
// that serves it talks to a proxy.
func Proxied(ctx context.Context, conn *pgconn.PgConn) (bool, error) {
	pid, err := ServerPID(ctx, conn)
	return pid != conn.PID(), err
}

// AssertOwn fails with [ErrPooled] unless each of two connections through a proxy
// has a session of its own. They are used in turns: a proxy that pools
// transactions serves either by whichever process is free, the last or the next
// in turn.
func AssertOwn(ctx context.Context, a, b *pgconn.PgConn) error {
	var first [2]uint32
	for i, conn := range []*pgconn.PgConn{a, b, b, a, a, b, a} {
		at := 0
		if conn == b {
			at = 1
		}
		pid, err := ServerPID(ctx, conn)
		switch {
		case err != nil:
			return err
		case i < 2:
			first[at] = pid
		case pid != first[at] || first[0] == first[1]:
			return ErrPooled
		}
	}
	return nil
}
