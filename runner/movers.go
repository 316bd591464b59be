package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// publish publishes a run on the session that owns its task, while further
// movers, each a session of its own, move rows of batched tables with it. The
// publish needs none of them: when one fails, the others move its rows. All have
// ended when it returns.
func (r *Runner) publish(ctx context.Context, own owner, report *reporter, task, runKey string, o options) error {
	helped, cancel := context.WithCancel(ctx)
	defer cancel()
	var movers sync.WaitGroup
	errs := make([]error, o.movers-1)
	for i := range errs {
		movers.Go(func() {
			err := r.join(helped, own.where(), report, task, runKey, o.batchRows)
			// it ends with the publish, and then with an error that says nothing new
			if err != nil && helped.Err() == nil && !errors.Is(err, ErrNotReady) {
				errs[i] = err
				report.log.Warn("a mover failed; the publish goes on without it", "mover", i+2, "error", err)
			}
		})
	}
	err := own.publish(ctx, task, runKey, o.batchRows, o.movers)
	cancel()
	movers.Wait()
	if err == nil {
		return nil
	}
	for i, failed := range errs {
		if failed != nil {
			err = fmt.Errorf("%w; mover %d failed too: %w", err, i+2, failed)
		}
	}
	return err
}

// join moves rows of a publish that begins, until none are left.
func (r *Runner) join(ctx context.Context, where string, report *reporter, task, runKey string, batchRows int) error {
	m, err := r.store.openMover(ctx, label(task), where, report.report)
	if err != nil {
		return err
	}
	defer m.close()
	return m.join(ctx, task, runKey, batchRows)
}
