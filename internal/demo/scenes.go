package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/runner"
)

// scenarios are the parts of the demo: a letter, and what happens.
var scenarios = []struct{ letter, name, title string }{
	{"A", "success", "A: success\n(each plan stages one row)"},
	{"B", "failure", "B: plan 3 fails\n(nothing is published)"},
	{"C", "retry", "C: retry with the same key\n(plan 2 is not run again)"},
	{"D", "stopped publish", "D: publish killed after one batch, then resumed\n(batched: readers see a part in between)"},
}

// success: three plans, then the publish.
func (p *player) success(ctx context.Context) error {
	now := &performance{scenario: "A", runKey: "week 40"}
	if err := p.begin(ctx, now); err != nil {
		return err
	}
	if err := p.start(ctx, now); err != nil {
		return err
	}
	return p.ended(ctx, now, published, "")
}

// failure: another key, and its third plan fails.
func (p *player) failure(ctx context.Context) error {
	now := &performance{scenario: "B", runKey: "week 41", failPlan: 3}
	if err := p.begin(ctx, now); err != nil {
		return err
	}
	err := p.start(ctx, now)
	switch {
	case err == nil:
		return errors.New("plan 3 was made to fail, and the run succeeded")
	case !errors.Is(err, errMadeToFail):
		return err
	}
	return p.ended(ctx, now, failed, "what was staged is kept")
}

// retry: the same key again.
func (p *player) retry(ctx context.Context) error {
	now := &performance{scenario: "C", runKey: "week 41"}
	if err := p.start(ctx, now); err != nil {
		return err
	}
	return p.ended(ctx, now, published, "")
}

// stoppedPublish: the session that publishes is killed after its first batch of
// one row; then the same key again.
func (p *player) stoppedPublish(ctx context.Context) error {
	now := &performance{scenario: "D", runKey: "week 42", batchRows: 1}
	if err := p.begin(ctx, now); err != nil {
		return err
	}
	if err := p.closeGate(ctx); err != nil {
		return err
	}
	var killed bool
	now.onBatch = func(runner.Progress) (err error) {
		killed, err = true, p.killPublish(ctx)
		return err
	}
	err := p.start(ctx, now)
	switch {
	case now.err != nil:
		return now.err
	case !killed && err != nil:
		return err
	case err == nil:
		return errors.New("the publish was to be killed, and the run succeeded")
	}
	if err := p.ended(ctx, now, stopped, "batched: readers see a part until it is resumed"); err != nil {
		return err
	}
	if _, err := p.gate.Exec(ctx, "ROLLBACK"); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}

	again := &performance{scenario: "D", runKey: now.runKey}
	if err := p.start(ctx, again); err != nil {
		return err
	}
	return p.ended(ctx, again, resumed, "published the rest, ran no plan")
}

func (p *player) begin(ctx context.Context, now *performance) error {
	if err := p.reset(ctx); err != nil {
		return err
	}
	return p.look(ctx, now, before, 0, "")
}

func (p *player) closeGate(ctx context.Context) error {
	for _, statement := range []string{"BEGIN", "LOCK TABLE anon_demo.gate IN ACCESS EXCLUSIVE MODE"} {
		if _, err := p.gate.Exec(ctx, statement); err != nil {
			return fmt.Errorf("close the gate: %w", err)
		}
	}
	return nil
}

// killPublish waits until the publish stands at the gate, in its second batch,
// and ends its session there.
func (p *player) killPublish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		var done bool
		err := p.reader.QueryRow(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE $1::integer = ANY (pg_blocking_pids(pid))`, p.gate.PgConn().PID()).Scan(&done)
		switch {
		case err == nil && done:
			return nil
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("kill the publish: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the publish did not come to its second batch: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond): // until the next look
		}
	}
}
