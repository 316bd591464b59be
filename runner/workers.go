package runner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// tally is what the plans of one attempt came to.
type tally struct {
	mu           sync.Mutex
	run, skipped []int // in order
	rows         int64
	unrecorded   []planFailure // failures that their own connection could not record
}

type planFailure struct {
	plan   int
	reason string
}

// plans runs all plans: the first alone, the middle ones on at most Cores
// connections, the last alone; the hooks around them. It returns when every
// goroutine it started has ended.
func (x *execution) plans(ctx context.Context, main worker) error {
	if err := x.hook(ctx, main, "Before", x.job.before); err != nil {
		return err
	}
	last := x.list.plans
	cores := min(x.job.cores, last-2)
	if cores <= 1 {
		if err := x.drive(ctx, main, counter(1, last)); err != nil {
			return err
		}
		return x.hook(ctx, main, "After", x.job.after)
	}
	if err := x.drive(ctx, main, counter(1, 1)); err != nil {
		return err
	}
	if err := x.middlePlans(ctx, main, cores, counter(2, last-1)); err != nil {
		return err
	}
	if err := x.drive(ctx, main, counter(last, last)); err != nil {
		return err
	}
	return x.hook(ctx, main, "After", x.job.after)
}

// counter returns a function that hands the plans from..to out, each once, and
// then 0. Several goroutines may call it.
func counter(from, to int) (next func() int) {
	var handed atomic.Int64
	return func() int {
		plan := from + int(handed.Add(1)) - 1
		if plan > to {
			return 0
		}
		return plan
	}
}

// hook calls Before or After with handles that can only read.
func (x *execution) hook(ctx context.Context, w worker, name string, call func(context.Context, Run, Handles) error) error {
	if call == nil {
		return nil
	}
	s := &scope{worker: w, run: x.run, alive: ctx, readOnly: "Task." + name}
	err := protect(func() error { return call(ctx, x.run, s.handles(x.tables)) })
	if endErr := s.end(); err == nil {
		err = endErr
	}
	if err != nil {
		logPanic(x.report.log, err)
		return joinCause(ctx, place(err, x.job.name, x.opts.runKey, 0, ""))
	}
	return nil
}

// middlePlans runs the plans that next hands out, each on whichever of the
// connections is free.
func (x *execution) middlePlans(ctx context.Context, main worker, cores int, next func() int) error {
	group := newGroup(ctx)
	for core := range cores {
		group.do(func(ctx context.Context) error {
			w := main
			if core > 0 {
				var err error
				if w, err = x.r.store.openWorker(ctx, x.label, x.base, x.own == nil); err != nil {
					return err
				}
				defer w.close()
			}
			return x.drive(ctx, w, next)
		})
	}
	return group.wait()
}

// drive runs the plans that next hands out, or skips them, one after the other
// on one connection. A plan is finished together with the begin of the one that
// follows, in one transaction.
func (x *execution) drive(ctx context.Context, w worker, next func() int) error {
	for plan := next(); plan != 0; plan = next() {
		begun, err := x.beginPlan(ctx, w, plan)
		for begun && err == nil {
			plan, begun, err = x.runPlan(ctx, w, plan, next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beginPlan begins a plan that no other one on its connection comes before;
// false: it was skipped.
func (x *execution) beginPlan(ctx context.Context, w worker, plan int) (begun bool, err error) {
	if ctx.Err() != nil {
		return false, stopped(ctx)
	}
	begun = true
	if x.own != nil {
		begun, err = w.beginPlan(ctx, x.run.id, x.run.attempt, plan)
	}
	if err != nil {
		return false, place(err, x.job.name, x.opts.runKey, plan, "")
	}
	x.begun(plan, begun)
	return begun, nil
}

// begun reports the begin of a plan, or that it is skipped.
func (x *execution) begun(plan int, run bool) {
	kind := PlanStarted
	if !run {
		kind = PlanSkipped
		x.tally.skip(plan)
	}
	x.report.report(Progress{Kind: kind, RunID: x.run.id, Plan: plan, Plans: x.list.plans})
}

// runPlan runs a plan that has begun and records how it ended. It returns the
// plan that next hands out then, 0 for none, and whether that one has begun;
// if not, it was skipped.
func (x *execution) runPlan(ctx context.Context, w worker, plan int, next func() int) (follows int, begun bool, err error) {
	event := Progress{Kind: PlanFinished, RunID: x.run.id, Plan: plan, Plans: x.list.plans}
	began := time.Now()
	rows, err := x.perform(ctx, w, plan)
	if err == nil {
		follows = next()
		begun, err = x.finishPlan(ctx, w, plan, rows, follows)
	}
	event.Elapsed, event.Rows = time.Since(began), rows
	if err != nil {
		err = place(err, x.job.name, x.opts.runKey, plan, "")
		event.Kind, event.Err = PlanFailed, err
		if ctx.Err() != nil {
			event.Kind = PlanCancelled
		}
		x.failPlan(ctx, w, plan, err)
		x.report.report(event)
		return 0, false, err
	}
	x.tally.done(plan, rows)
	x.report.log.Debug("plan finished", "plan", plan, "plans", x.list.plans, "rows", rows, "elapsed", event.Elapsed)
	x.report.report(event)
	if follows != 0 {
		x.begun(follows, begun)
	}
	return follows, begun, nil
}

// finishPlan finishes a plan and begins the one that follows, if any; false:
// there is none, or it is skipped.
func (x *execution) finishPlan(ctx context.Context, w worker, plan int, rows int64, follows int) (begun bool, err error) {
	switch {
	case x.own == nil:
		return follows != 0, nil
	case follows == 0:
		return false, w.finishPlan(ctx, x.run.id, x.run.attempt, plan, rows)
	default:
		return w.nextPlan(ctx, x.run.id, x.run.attempt, plan, rows, follows)
	}
}

// perform calls the task's functions for one plan, with handles that work only
// until they return.
func (x *execution) perform(ctx context.Context, w worker, plan int) (rows int64, err error) {
	if ctx.Err() != nil {
		return 0, stopped(ctx)
	}
	s := &scope{worker: w, run: x.run, alive: ctx}
	err = protect(func() error { return x.job.perform(ctx, x.run, plan, s.handles(x.tables)) })
	if endErr := s.end(); err == nil {
		err = endErr
	}
	logPanic(x.report.log, err)
	if ctx.Err() != nil {
		// a function that did not look at its context must not end the plan well
		if err == nil {
			return 0, stopped(ctx)
		}
		return 0, joinCause(ctx, place(err, x.job.name, x.opts.runKey, plan, ""))
	}
	return s.rows, err
}

// failPlan records that a plan failed, on its own connection if that still
// works, else later on the owner's.
func (x *execution) failPlan(ctx context.Context, w worker, plan int, reason error) {
	if x.own == nil {
		return
	}
	text, wait := reasonOf(ctx, reason), cleanupWait
	if errors.Is(context.Cause(ctx), ErrNotOwner) {
		wait = min(wait, x.r.cfg.Heartbeat) // the network may be silent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	if err := w.failPlan(ctx, x.run.id, x.run.attempt, plan, text); err != nil {
		x.tally.mu.Lock()
		defer x.tally.mu.Unlock()
		x.tally.unrecorded = append(x.tally.unrecorded, planFailure{plan, text})
	}
}

func (t *tally) done(plan int, rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows += rows
	at, _ := slices.BinarySearch(t.run, plan)
	t.run = slices.Insert(t.run, at, plan)
}

func (t *tally) skip(plan int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, _ := slices.BinarySearch(t.skipped, plan)
	t.skipped = slices.Insert(t.skipped, at, plan)
}

// group runs functions side by side. The first error cancels the others, and is
// what wait returns.
type group struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once
	err    error
}

func newGroup(ctx context.Context) *group {
	g := &group{}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

func (g *group) do(call func(ctx context.Context) error) {
	g.wg.Go(func() {
		// stays when a function of the caller's ends the goroutine (runtime.Goexit)
		err := errors.New("a function of the task ended its goroutine")
		defer func() {
			if err != nil {
				g.once.Do(func() { g.err = err })
				g.cancel(err)
			}
		}()
		err = call(g.ctx)
	})
}

func (g *group) wait() error {
	g.wg.Wait()
	g.cancel(nil)
	return g.err
}

// sortedTables returns the aliases in order, and the tables' names with them.
func sortedTables(tables Tables) (aliases, names []string) {
	aliases = slices.Sorted(maps.Keys(tables))
	for _, alias := range aliases {
		names = append(names, tables[alias])
	}
	return aliases, names
}
