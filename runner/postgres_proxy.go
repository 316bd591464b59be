package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cs9gen/cs9gen/internal/pgsession"
)

// probeWait is how long a proxy may take to give the second connection that
// tells how it pools. A run needs two anyway.
const probeWait = 10 * time.Second

// assertSession refuses a proxy that pools transactions (pgbouncer with
// pool_mode = transaction): there, the lock of the task stays in some session of
// the server that the next statement may not reach, and two plans would write
// under each other's settings.
func (o *pgOwner) assertSession(ctx context.Context) error {
	if !o.proxied() {
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
	err = pgsession.AssertOwn(probeCtx, o.conn.PgConn(), other.conn.PgConn())
	switch {
	case errors.Is(err, pgsession.ErrPooled):
		return refuse(ErrNotOwner, "connect", err.Error()+", and none of them could own the task", pgsession.DirectHint)
	case err != nil:
		return dbError(probeCtx, "connect", "", err)
	}
	return o.settle(ctx)
}
