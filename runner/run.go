package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// What was kept, and what to do next: the end of an error of a run.
const (
	resumeNext  = "nothing was published; run again with the same key to resume"
	restNext    = "what the publish committed is kept; run again with the same key to publish the rest"
	unknownNext = "run again with the same key: it publishes the rest of a publish that began, else it resumes the plans"
	directNext  = "the run has no run key: what its earlier writes changed is live, and the failed one changed nothing"
)

// cleanupWait is how long what must be recorded after a failure may take.
const cleanupWait = 5 * time.Second

// execution is one call of Task.Run.
type execution struct {
	r      *Runner
	job    *job
	opts   options
	report *reporter
	label  string

	own    owner // nil without a run key
	base   string
	tables map[string]*tableInfo
	list   planList
	run    Run
	tally  tally
}

func (r *Runner) run(ctx context.Context, j *job, o options) (*Result, error) {
	x := &execution{r: r, job: j, opts: o, label: label(j.name), report: r.reporter(j.name, o.runKey)}
	result, err := x.start(ctx)
	if err != nil {
		x.report.failed(ctx, x.run.id, err)
	}
	return result, err
}

func (x *execution) start(ctx context.Context) (*Result, error) {
	if !x.opts.hasRunKey {
		return x.direct(ctx)
	}
	return x.keyed(ctx)
}

func label(task string) string { return "cs9gen " + task }

func (r *Runner) reporter(task, runKey string) *reporter {
	log := r.cfg.Logger.With("task", task)
	if runKey != "" {
		log = log.With("run_key", runKey)
	}
	return &reporter{log: log, tell: r.cfg.Progress, task: task, runKey: runKey}
}

// openOwner opens a session that can own the task.
func (r *Runner) openOwner(ctx context.Context, task, runKey string) (owner, *reporter, error) {
	report := r.reporter(task, runKey)
	own, err := r.store.openOwner(ctx, label(task), report.report)
	return own, report, err
}

// direct runs the task without a run key.
func (x *execution) direct(ctx context.Context) (*Result, error) {
	fail := func(err error) (*Result, error) { return nil, place(err, x.job.name, "", 0, directNext) }
	main, err := x.r.store.openWorker(ctx, x.label, "", true)
	if err != nil {
		return nil, place(err, x.job.name, "", 0, "")
	}
	defer main.close()
	x.base = main.where()
	if err := x.describe(ctx, main); err != nil {
		return nil, place(err, x.job.name, "", 0, "")
	}
	x.run = Run{task: x.job.name, today: dateOf(x.r.cfg.Now())}
	if err := x.plan(ctx); err != nil {
		return nil, place(err, x.job.name, "", 0, "nothing was written")
	}
	x.report.report(Progress{Kind: RunBegun, Plans: x.list.plans})
	if err := x.plans(ctx, main); err != nil {
		return fail(err)
	}
	result := x.result(Direct)
	result.RowsPublished = x.tally.rows
	x.report.ended(result)
	return result, nil
}

// keyed runs the task with a run key.
func (x *execution) keyed(ctx context.Context) (*Result, error) {
	fail := func(err error, next string) (*Result, error) {
		return nil, place(err, x.job.name, x.opts.runKey, 0, next)
	}
	own, err := x.r.store.openOwner(ctx, x.label, x.report.report)
	if err != nil {
		return fail(err, "nothing was begun")
	}
	defer own.close()
	x.own, x.base = own, own.where()

	begun, err := x.begin(ctx)
	if err != nil {
		return fail(err, "no plan was run")
	}
	result := x.result(Published)
	result.PublishedOlder = begun.publishKey
	switch begun.outcome {
	case "published":
		result.Outcome = AlreadyPublished
	case "publish":
		result.Outcome = PublishedRest
		if may, err := own.mayPublish(ctx, x.job.name, x.opts.runKey); err != nil || !may {
			return fail(cmp.Or(err, errMayNotPublish()), "")
		}
		if next, err := x.publish(ctx); err != nil {
			return fail(err, next)
		}
	default:
		if err := x.attempt(ctx); err != nil {
			x.endAttempt(ctx, err)
			return fail(err, resumeNext)
		}
		result.PlansRun, result.PlansSkipped = x.tally.run, x.tally.skipped
		may, err := own.mayPublish(ctx, x.job.name, x.opts.runKey)
		switch {
		case err != nil:
			x.endAttempt(ctx, err)
			return fail(err, resumeNext)
		case !may:
			result.Outcome = Ready
			// the end of the session would do it a moment later, when somebody else may have been refused
			if err := own.release(ctx, x.job.name); err != nil {
				return fail(err, "the run is ready to be published")
			}
		default:
			if next, err := x.publish(ctx); err != nil {
				return fail(err, next)
			}
		}
	}
	fill(ctx, own, result, x.report)
	x.report.ended(result)
	return result, nil
}

// errMayNotPublish is for a run whose publish has begun: no plan is left to run.
func errMayNotPublish() error {
	return refuse(ErrNotReady, "publish", "the publish of the run has begun, and this login may not go on with it",
		"let a login with the publisher role publish the rest: CALL cs9.publish(task, run_key)")
}

// begin claims the task, builds the plan list with the run's own date, and
// begins the attempt. It publishes an older run first that is ready, or was
// being published.
func (x *execution) begin(ctx context.Context) (begun, error) {
	task, key := x.job.name, x.opts.runKey
	if err := x.own.assertSession(ctx); err != nil {
		return begun{}, err
	}
	if err := x.describe(ctx, x.own); err != nil {
		return begun{}, err
	}
	known, err := x.own.claim(ctx, task, key)
	if err != nil {
		return begun{}, err
	}
	x.run = Run{task: task, key: key, id: known.runID, today: known.today}
	switch {
	case known.state == "published" && !x.opts.again:
		return begun{outcome: "published"}, x.own.release(ctx, task)
	case known.runID == 0, known.state == "published":
		x.run.id, x.run.today = 0, dateOf(x.r.cfg.Now())
	}
	if err := x.plan(ctx); err != nil {
		return begun{}, err
	}
	request := beginRequest{
		task: task, runKey: key, tables: x.tableNames(), plans: x.list.json, today: x.run.today,
		allowEmpty: x.job.allowEmpty || x.opts.allowEmpty, again: x.opts.again, publishMode: x.opts.publishMode,
	}
	older := ""
	for {
		b, err := x.own.begin(ctx, request)
		if err != nil {
			return begun{}, err
		}
		if b.outcome != "publish_older" {
			b.publishKey = older
			x.run = Run{task: task, key: key, id: b.runID, attempt: b.attempt, today: b.today}
			x.report.log.Info("run begun", "outcome", b.outcome, "run_id", b.runID, "attempt", b.attempt, "plans", x.list.plans)
			x.report.report(Progress{Kind: RunBegun, RunID: b.runID, Plans: x.list.plans})
			return b, nil
		}
		if b.publishKey == older {
			return begun{}, fmt.Errorf("the older run %q was published and is still unfinished", older)
		}
		older = b.publishKey
		if err := x.publishOlder(ctx, older); err != nil {
			return begun{}, err
		}
	}
}

// publishOlder publishes an older run of the task.
func (x *execution) publishOlder(ctx context.Context, runKey string) error {
	x.report.log.Info("publishing an older run first", "older_run_key", runKey)
	x.report.runKey = runKey
	defer func() { x.report.runKey = x.opts.runKey }()
	if err := x.r.publish(ctx, x.own, x.report, x.job.name, runKey, x.opts); err != nil {
		return fmt.Errorf("publishing the older run %q, which has to be published or discarded first: %w", runKey, err)
	}
	return nil
}

// attempt runs the plans while a watcher holds on to the task.
func (x *execution) attempt(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := x.own.watch(x.job.name, func(err error) {
		x.report.log.Debug("the run is stopped", "error", err)
		cancel(err)
	})
	defer stop()
	main, err := x.r.store.openWorker(ctx, x.label, x.base, false)
	if err != nil {
		return err
	}
	defer main.close()
	if err := x.plans(ctx, main); err != nil {
		return err
	}
	stop()
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	return x.prove(ctx)
}

// prove has the database look for whatever could stop the publish.
func (x *execution) prove(ctx context.Context) error {
	x.report.report(Progress{Kind: RunProving, RunID: x.run.id})
	began := time.Now()
	if err := x.own.finishRun(ctx, x.run.id, x.run.attempt); err != nil {
		return err
	}
	x.report.report(Progress{Kind: RunProved, RunID: x.run.id, Elapsed: time.Since(began)})
	return nil
}

// reasonOf is what is recorded of a failure: whether it was one, or a cancel.
func reasonOf(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return cancelled + err.Error()
	}
	return err.Error()
}

// cancelled begins the recorded error of what was cancelled and did not fail.
const cancelled = "cancelled: "

// stopped is the error of a run whose context ended.
func stopped(ctx context.Context) error {
	return joinCause(ctx, &Error{Op: "run", Message: "the run was stopped"})
}

// publish publishes the run, and says what is next when that fails.
func (x *execution) publish(ctx context.Context) (next string, err error) {
	err = x.r.publish(ctx, x.own, x.report, x.job.name, x.opts.runKey, x.opts)
	if err == nil {
		return "", nil
	}
	next = nextAfterPublish(ctx, x.own, x.run.id)
	x.endAttempt(ctx, err)
	return next, err
}

// nextAfterPublish says how far a failed publish came.
func nextAfterPublish(ctx context.Context, own owner, runID int64) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWait)
	defer cancel()
	run, err := oneRun(ctx, own, runID)
	switch {
	case err != nil:
		return unknownNext
	case run.State == "publishing":
		return restNext
	case run.State == "running", run.State == "ready":
		return resumeNext
	}
	return ""
}

// endAttempt records why the attempt failed, and gives the task back: in spite
// of a cancel, which may be the reason.
func (x *execution) endAttempt(ctx context.Context, reason error) {
	text := reasonOf(ctx, reason)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWait)
	defer cancel()
	logPanic(x.report.log, reason)
	for _, f := range x.tally.unrecorded {
		if err := x.own.failPlan(ctx, x.run.id, x.run.attempt, f.plan, f.reason); err != nil {
			x.report.log.Warn("the failure of a plan could not be recorded", "plan", f.plan, "error", err)
		}
	}
	if err := x.own.endAttempt(ctx, x.run.id, x.run.attempt, text); err != nil {
		x.report.log.Warn("the end of the attempt could not be recorded", "error", err)
	}
}

func (x *execution) describe(ctx context.Context, s session) error {
	aliases, names := sortedTables(x.job.tables)
	infos, err := s.describe(ctx, names)
	if err != nil {
		return err
	}
	x.tables = make(map[string]*tableInfo, len(infos))
	for i, info := range infos {
		x.tables[aliases[i]] = info
	}
	return nil
}

func (x *execution) tableNames() []string {
	aliases, _ := sortedTables(x.job.tables)
	labels := make([]string, len(aliases))
	for i, alias := range aliases {
		labels[i] = x.tables[alias].label
	}
	return labels
}

// plan calls the planner.
func (x *execution) plan(ctx context.Context) error {
	err := protect(func() (err error) {
		x.list, err = x.job.plan(ctx, x.run)
		return err
	})
	if err == nil {
		return nil
	}
	logPanic(x.report.log, err)
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return joinCause(ctx, &Error{Op: "plan", Message: "the planner: " + err.Error(), err: err})
}

func (x *execution) result(outcome Outcome) *Result {
	return &Result{
		Outcome: outcome, Task: x.job.name, RunKey: x.opts.runKey, RunID: x.run.id, Attempt: x.run.attempt,
		Today: x.run.today, Plans: x.list.plans, PlansRun: x.tally.run, PlansSkipped: x.tally.skipped,
	}
}

// fill reads the figures of a run that has ended. It is published: that they
// cannot be read any more does not make it fail.
func fill(ctx context.Context, own owner, result *Result, report *reporter) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupWait)
	defer cancel()
	run, err := oneRun(ctx, own, result.RunID)
	if err != nil {
		report.log.Warn("the run is published; its figures could not be read", "error", err)
		return
	}
	result.Attempt, result.Today, result.Plans = run.Attempt, run.Today, run.Plans
	result.RowsStaged, result.RowsPublished = run.RowsStaged, run.RowsPublished
}
