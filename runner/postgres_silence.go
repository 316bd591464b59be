package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// attended makes a statement of the owner's session that takes as long as it
// needs. Meanwhile it asks with every heartbeat, on a second connection, whether
// the server is at work on it, and gives up where nothing answers any more, or
// where the server has ended it and the answer does not arrive.
func (o *pgOwner) attended(ctx context.Context, op string, do func(ctx context.Context) error) error {
	second, err := o.second(ctx)
	if err != nil {
		o.log.Debug("no second connection: a silent network is left to the system to notice", "error", err)
		return o.orUnknown(ctx, op, do(ctx))
	}
	defer second.close()
	defer second.cut()
	attended, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	working, ended := context.WithCancel(context.Background())
	defer ended()
	var asking sync.WaitGroup
	asking.Go(func() {
		if silent := o.ask(working, second); silent != nil {
			o.cut() // a request to cancel would stop what may go on
			cancel(unknown(op, silent))
		}
	})
	err = do(attended)
	ended()
	asking.Wait()
	if ctx.Err() == nil && attended.Err() != nil && err != nil {
		return context.Cause(attended)
	}
	return o.orUnknown(ctx, op, err)
}

// second opens the connection on which a publish is asked after.
func (o *pgOwner) second(ctx context.Context) (*pgSession, error) {
	ctx, cancel := context.WithTimeout(ctx, o.cfg.Heartbeat)
	defer cancel()
	s, err := o.probe(ctx)
	if err != nil {
		return nil, err
	}
	s.cancel.mute.Store(true) // what is asked here need not be cancelled
	return s, nil
}

// ask returns why the answer will not come, or nil when ctx ends.
func (o *pgOwner) ask(ctx context.Context, second *pgSession) error {
	tick := time.NewTicker(o.cfg.Heartbeat)
	defer tick.Stop()
	for idle := 0; idle < 2; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		working, err := second.atWork(ctx, o.pid, o.cfg.Heartbeat)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			return errors.New("nothing was heard from it for " + (2 * o.cfg.Heartbeat).String())
		case err != nil:
			o.log.Debug("the second connection was lost", "error", err)
			return nil
		case working:
			idle = 0
		default:
			idle++ // its answer may be on its way
		}
	}
	return errors.New("it has ended the statement, and its answer did not arrive")
}

// atWork asks whether the server's process pid works at a statement.
func (s *pgSession) atWork(ctx context.Context, pid string, wait time.Duration) (working bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err = s.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_activity AS a
		WHERE a.pid = $1::pg_catalog.text::pg_catalog.int4 AND a.state IS DISTINCT FROM 'idle')`, pid).Scan(&working)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return working, err
}

// orUnknown makes the error of a connection that was lost in the middle of a
// statement say that the statement may have been done.
func (o *pgOwner) orUnknown(ctx context.Context, op string, err error) error {
	var answered *pgconn.PgError
	if err == nil || ctx.Err() != nil || errors.As(err, &answered) || !o.conn.IsClosed() {
		return err
	}
	return unknown(op, err)
}

func unknown(op string, why error) error {
	return refuse(ErrOutcomeUnknown, op, "the connection to the server was lost in the middle of "+op+": "+why.Error(),
		"the server may have gone on, to the end: call again to learn; "+failover)
}
