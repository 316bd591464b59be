package runner

import (
	"context"
	"errors"
	"log/slog"
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
	if err := x.runPlan(ctx, main, 1); err != nil {
		return err
	}
	if err := x.middlePlans(ctx, main, 2, last-1); err != nil {
		return err
	}
	if last > 1 {
		if err := x.runPlan(ctx, main, last); err != nil {
			return err
		}
	}
	return x.hook(ctx, main, "After", x.job.after)
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

// middlePlans runs the plans from..to, each on whichever connection is free.
func (x *execution) middlePlans(ctx context.Context, main worker, from, to int) error {
	cores := min(x.job.cores, to-from+1)
	if cores <= 1 {
		for plan := from; plan <= to; plan++ {
			if err := x.runPlan(ctx, main, plan); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	next.Store(int64(from))
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
			for {
				plan := int(next.Add(1) - 1)
				if plan > to {
					return nil
				}
				if err := x.runPlan(ctx, w, plan); err != nil {
					return err
				}
			}
		})
	}
	return group.wait()
}

// runPlan runs one plan, or skips it, and records how it ended.
func (x *execution) runPlan(ctx context.Context, w worker, plan int) error {
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	event := Progress{RunID: x.run.id, Plan: plan, Plans: x.list.plans}
	tell := func(kind ProgressKind) {
		event.Kind = kind
		x.report.report(event)
	}
	if x.own != nil {
		run, err := w.beginPlan(ctx, x.run.id, x.run.attempt, plan)
		if err != nil {
			return place(err, x.job.name, x.opts.runKey, plan, "")
		}
		if !run {
			x.tally.skip(plan)
			tell(PlanSkipped)
			return nil
		}
	}
	tell(PlanStarted)
	began := time.Now()
	rows, err := x.perform(ctx, w, plan)
	if err == nil && x.own != nil {
		err = w.finishPlan(ctx, x.run.id, x.run.attempt, plan, rows)
	}
	event.Elapsed, event.Rows = time.Since(began), rows
	if err != nil {
		err = place(err, x.job.name, x.opts.runKey, plan, "")
		event.Err = err
		x.failPlan(ctx, w, plan, err)
		tell(PlanFailed)
		return err
	}
	x.tally.done(plan, rows)
	x.report.log.Debug("plan finished", "plan", plan, "plans", x.list.plans, "rows", rows, "elapsed", event.Elapsed)
	tell(PlanFinished)
	return nil
}

// perform calls the task's functions for one plan, with handles that work only
// until they return.
func (x *execution) perform(ctx context.Context, w worker, plan int) (rows int64, err error) {
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWait)
	defer cancel()
	if err := w.failPlan(ctx, x.run.id, x.run.attempt, plan, reason.Error()); err != nil {
		x.tally.mu.Lock()
		defer x.tally.mu.Unlock()
		x.tally.unrecorded = append(x.tally.unrecorded, planFailure{plan, reason.Error()})
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

// logPanic puts the stack of a panic into the log: the error has its value only.
func logPanic(log *slog.Logger, err error) {
	var p *panicError
	if errors.As(err, &p) {
		log.Error("a function of the task panicked", "panic", p.value, "stack", string(p.stack))
	}
}

// sortedTables returns the aliases in order, and the tables' names with them.
func sortedTables(tables Tables) (aliases, names []string) {
	aliases = slices.Sorted(maps.Keys(tables))
	for _, alias := range aliases {
		names = append(names, tables[alias])
	}
	return aliases, names
}
