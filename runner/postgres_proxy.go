package runner

import (
	"context"
	"fmt"
	"time"
)

// probeWait is how long a proxy may take to give the second connection that
// tells how it pools. A run needs two anyway.
const probeWait = 10 * time.Second

// assertSession refuses a proxy that pools transactions (pgbouncer with
// pool_mode = transaction): there, the lock of the task stays in some session of
// the server that the next statement may not reach, and two plans would write
// under each other's settings.
//
// A server tells its process id when a connection begins. Who is told another
// one than the process that serves it talks to a proxy, and then uses a second
// connection in turns with this one: a proxy that pools transactions serves
// either by whichever process is free, the last or the next in turn.
func (o *pgOwner) assertSession(ctx context.Context) error {
	if o.pid == fmt.Sprint(o.conn.PgConn().PID()) {
		return nil
	}
	probeCtx, cancel := context.WithTimeoutCause(ctx, probeWait,
		fmt.Errorf("the proxy gave no second connection within %s, and a run needs one for its lock and one a core", probeWait))
	defer cancel()
	other, err := o.probe(probeCtx)
	if err != nil {
		return err
	}
	defer other.close()
	for _, s := range []*pgSession{o.pgSession, other, other, o.pgSession, o.pgSession, other, o.pgSession} {
		row, err := s.simple(probeCtx, "SELECT pg_catalog.pg_backend_pid()")
		if err != nil {
			return err
		}
		if row[0] != s.pid || o.pid == other.pid {
			return refuse(ErrNotOwner, "connect",
				"the connections go through a proxy that pools transactions: the statements of one connection reach several sessions of the server, and none of them could own the task",
				"connect to the server itself, or to a pool of the proxy that pools sessions (pgbouncer: pool_mode = session)")
		}
	}
	return nil
}
