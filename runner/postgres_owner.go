package runner

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cs9gen/cs9gen/internal/pgsession"
)

// pgOwner is the session that owns the task. The run is alive as long as this
// session is, which is why nothing else is done on it while plans run.
type pgOwner struct {
	*pgSession
	cfg   *Config
	probe func(ctx context.Context) (*pgSession, error) // another connection
}

func (p *postgres) openOwner(ctx context.Context, label string, progress func(Progress)) (owner, error) {
	s, err := p.openPublisher(ctx, label, progress)
	if err != nil {
		return nil, err
	}
	probe := func(ctx context.Context) (*pgSession, error) { return p.connect(ctx, label, nil) }
	return &pgOwner{pgSession: s, cfg: p.cfg, probe: probe}, nil
}

// openPublisher opens a session that can publish: its notices tell of the
// progress, and it waits for locks as the configuration says.
func (p *postgres) openPublisher(ctx context.Context, label string, progress func(Progress)) (*pgSession, error) {
	log := p.cfg.Logger
	return p.connect(ctx, label, func(n *pgconn.Notice) {
		if event, ok := publishProgress(n.Detail); ok {
			progress(event)
			return
		}
		if discarded(n.Detail) {
			log.Warn(n.Message)
			return
		}
		log.Debug("notice of the database", "severity", n.Severity, "message", n.Message, "detail", n.Detail)
	},
		pgsession.Prompt,
		pgsession.Setting{Name: "cs9.lock_timeout", Value: milliseconds(p.cfg.LockTimeout)},
		pgsession.Setting{Name: "cs9.lock_retries", Value: strconv.Itoa(p.cfg.LockRetries)},
		pgsession.Setting{Name: "cs9.lock_backoff", Value: milliseconds(p.cfg.LockBackoff)})
}

// pgMover is a session that helps with a publish.
type pgMover struct{ *pgSession }

func (p *postgres) openMover(ctx context.Context, label, where string, progress func(Progress)) (mover, error) {
	s, err := p.openPublisher(ctx, label, progress)
	if err != nil {
		return nil, err
	}
	if err := s.mustBeAt(where); err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		s.close()
		return nil, err
	}
	return pgMover{s}, nil
}

// join calls a procedure that commits after each batch, as publish does.
func (m pgMover) join(ctx context.Context, task, runKey string, batchRows int) error {
	return m.exec(ctx, "join_publish", "CALL cs9.join_publish($1, $2, $3)", task, runKey, batchRows)
}

// claim makes the session the owner of the task. A process that has just died
// may be that for a moment, until the server has noticed.
func (o *pgOwner) claim(ctx context.Context, task, runKey string) (claimed, error) {
	giveUp := time.Now().Add(o.cfg.AliveGrace)
	for {
		var id pgtype.Int8
		var state pgtype.Text
		var today pgtype.Date
		err := o.conn.QueryRow(ctx, "SELECT run_id, state, today FROM cs9.claim_run($1, $2)", task, runKey).Scan(&id, &state, &today)
		if err == nil {
			return claimed{runID: id.Int64, state: state.String, today: today.Time}, nil
		}
		err = dbError(ctx, "claim_run", "", err)
		if !isAlive(err) || !time.Now().Before(giveUp) {
			return claimed{}, err
		}
		select {
		case <-ctx.Done():
			return claimed{}, dbError(ctx, "claim_run", "", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (o *pgOwner) begin(ctx context.Context, r beginRequest) (begun, error) {
	var b begun
	var id, attempt pgtype.Int8
	var today pgtype.Date
	var publishKey pgtype.Text
	err := o.conn.QueryRow(ctx, `SELECT outcome, run_id, attempt, today, publish_key
		FROM cs9.begin_run($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, ''))`,
		r.task, r.runKey, r.tables, string(r.plans), pgtype.Date{Time: r.today, Valid: true}, r.allowEmpty, r.again, o.cfg.Owner, r.publishMode,
	).Scan(&b.outcome, &id, &attempt, &today, &publishKey)
	b.runID, b.attempt, b.today, b.publishKey = id.Int64, int(attempt.Int64), today.Time, publishKey.String
	return b, dbError(ctx, "begin_run", "", err)
}

func (o *pgOwner) finishRun(ctx context.Context, runID int64, attempt int) error {
	return o.attended(ctx, "finish_run", func(ctx context.Context) error {
		return o.exec(ctx, "finish_run", "SELECT cs9.finish_run($1, $2)", runID, attempt)
	})
}

func (o *pgOwner) mayPublish(ctx context.Context, task, runKey string) (may bool, err error) {
	err = o.conn.QueryRow(ctx, "SELECT cs9.may_publish($1, $2)", task, runKey).Scan(&may)
	return may, dbError(ctx, "may_publish", "", err)
}

func (o *pgOwner) setPublishMode(ctx context.Context, task, runKey, mode string) error {
	return o.exec(ctx, "set_publish_mode", "SELECT cs9.set_publish_mode($1, $2, $3)", task, runKey, mode)
}

// publish calls a procedure that commits after each batch: on a bare
// connection, never in a transaction, which is why this package takes no Tx.
func (o *pgOwner) publish(ctx context.Context, task, runKey string, batchRows, movers int) error {
	return o.attended(ctx, "publish", func(ctx context.Context) error {
		return o.exec(ctx, "publish", "CALL cs9.publish($1, $2, $3, $4)", task, runKey, batchRows, movers)
	})
}

func (o *pgOwner) endAttempt(ctx context.Context, runID int64, attempt int, reason string) error {
	o.cancel.mute.Store(true) // as for failPlan
	return o.exec(ctx, "end_attempt", "SELECT cs9.end_attempt($1, $2, $3)", runID, attempt, reason)
}

func (o *pgOwner) release(ctx context.Context, task string) error {
	return o.exec(ctx, "release_run", "SELECT cs9.release_run($1)", task)
}

func (o *pgOwner) discard(ctx context.Context, task, runKey string, force bool) error {
	return o.exec(ctx, "discard_run", "SELECT cs9.discard_run($1, $2, $3)", task, runKey, force)
}

// watch reads from the session until it is stopped, so that its end is noticed
// at once, and asks with every heartbeat whether it still owns the task, so that
// a silent network or a proxy that swapped the session is noticed too.
func (o *pgOwner) watch(task string, lost func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		o.cancel.mute.Store(true)
		defer func() { o.cancel.mute.Store(o.conn.IsClosed()) }()
		for ctx.Err() == nil {
			err := o.listen(ctx)
			if err == nil && ctx.Err() == nil {
				err = o.stillOwns(task)
			}
			if err != nil {
				lost(err)
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		done.Wait()
	})
}

// listen blocks until a heartbeat is due, or the session is gone.
func (o *pgOwner) listen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.cfg.Heartbeat)
	defer cancel()
	for {
		_, err := o.conn.WaitForNotification(ctx)
		switch {
		case err == nil:
			// of a LISTEN in a hook of the pool: not ours
		case ctx.Err() != nil && !o.conn.IsClosed():
			return nil
		default:
			return lostOwner("its connection was lost: "+err.Error(), failover)
		}
	}
}

// stillOwns does not end with the watch: an answer that is due would be read by
// the next statement.
func (o *pgOwner) stillOwns(task string) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.cfg.Heartbeat)
	defer cancel()
	var owns bool
	err := o.conn.QueryRow(ctx, "SELECT cs9.owns_task(t.task_id) FROM cs9.task AS t WHERE t.task = $1", task).Scan(&owns)
	switch {
	case err != nil:
		if ctx.Err() != nil {
			o.cut()
		}
		return lostOwner(fmt.Sprintf("its connection did not answer within %s: %v", o.cfg.Heartbeat, err), failover)
	case !owns:
		return lostOwner("its session no longer holds the lock, as happens behind a proxy that pools transactions", "")
	}
	return nil
}

func lostOwner(why, hint string) error {
	return refuse(ErrNotOwner, "", "the run no longer owns its task: "+why, hint)
}
