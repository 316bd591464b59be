package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Tables are the tables of a task: a short name for each, as the task's
// functions call it, and the table's name as SQL writes it (schema.table, with
// double quotes where SQL needs them).
type Tables map[string]string

// Handles are the tables of a task while a plan runs, by the names of [Tables].
// Any other name gives a nil handle: each call of it is [ErrBadArgument].
type Handles map[string]*Table

// Op is how rows are written.
type Op int

const (
	// Insert writes rows that must not be there yet.
	Insert Op = iota
	// Upsert writes rows in place of those with the same key.
	Upsert
)

// String returns the op in lower case.
func (o Op) String() string {
	if o == Upsert {
		return "upsert"
	}
	return "insert"
}

// Task is a named job: its tables, a planner, an optional data selector, and an
// action. A is the argset of one analysis, D what Select reads for a plan; both
// are the caller's own types. A task is a value that holds no state: it can be
// run many times, and by many goroutines, unless its functions forbid that.
//
// The argsets are recorded as JSON, and an attempt that resumes a run must come
// to the same ones: keep what decides a plan in exported fields, and leave what
// does not (connections, loggers) out with the tag `json:"-"`.
type Task[A, D any] struct {
	// Name of the task; with the run key it is the identity of a run.
	Name   string
	Tables Tables

	// Plans returns the argsets, one plan for each. It must depend on nothing
	// but the run's date and fixed arguments: see [ErrPlansChanged].
	Plans func(ctx context.Context, run Run) ([]A, error)
	// PlanList is for plans of several analyses, instead of Plans.
	PlanList func(ctx context.Context, run Run) ([]Plan[A], error)
	// Universal sets arguments that all analyses share. Optional.
	Universal func(run Run, args *A)

	// Select reads the data of one plan. Optional; args is the plan's first.
	Select func(ctx context.Context, args Args[A], tables Handles) (D, error)
	// Action does one analysis: it computes, and writes by the handles.
	Action func(ctx context.Context, data D, args Args[A], tables Handles) error
	// Returns is instead of Action: it gives the rows of one analysis, and
	// those of a whole plan are written to the table ReturnTo (one of the names
	// in Tables) in one statement when the plan's last analysis is done.
	Returns  func(ctx context.Context, data D, args Args[A], tables Handles) (Source, error)
	ReturnTo string
	ReturnAs Op

	// Before runs when the run has begun, before plan 1. Its handles can only
	// read. Optional.
	Before func(ctx context.Context, run Run, tables Handles) error
	// After runs after the last plan, before anything is published: an error
	// stops the run with nothing published. Its handles can only read. Optional.
	After func(ctx context.Context, run Run, tables Handles) error

	// Cores is how many plans run at once, each on its own connection. Plan 1
	// and the last plan always run alone. Defaults to 1.
	Cores int
	// AllowEmpty lets the run leave a table empty.
	AllowEmpty bool
}

// Plan is one unit of a task: one data pull and one or more analyses.
type Plan[A any] struct {
	Analyses []A
}

// Args are the arguments of one analysis: its argset, and where in the run it is.
type Args[A any] struct {
	// Value is the argset.
	Value A
	// IndexPlan counts from 1.
	IndexPlan int
	// IndexAnalysis counts from 1 over the whole run.
	IndexAnalysis int
	// FirstAnalysis and LastAnalysis: of the whole run.
	FirstAnalysis, LastAnalysis bool
	// WithinPlanFirstAnalysis and WithinPlanLastAnalysis: of the plan.
	WithinPlanFirstAnalysis, WithinPlanLastAnalysis bool
	Run                                             Run
}

// Run is what a task's functions can know of the run they are part of.
type Run struct {
	task    string
	key     string
	id      int64
	attempt int
	today   time.Time
}

// Task returns the task's name.
func (r Run) Task() string { return r.task }

// Key returns the run key: "" in a run without one.
func (r Run) Key() string { return r.key }

// ID returns the run's number in cs9.run_status. It is 0 in the planner of a
// new run, and in a run without a run key.
func (r Run) ID() int64 { return r.id }

// Attempt counts from 1. It is 0 in the planner, and in a run without a run key.
func (r Run) Attempt() int { return r.attempt }

// Today returns the date of the run's first attempt, on every later attempt
// too, as midnight UTC.
func (r Run) Today() time.Time { return r.today }

// dateOf returns the calendar day of t, in t's own location, as midnight UTC.
func dateOf(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Run runs the task: with [RunKey] all or nothing, without it straight into the
// live tables. The error is an *[Error], and says what was kept. When Run
// returns, all its goroutines have ended and all its connections are closed.
func (t Task[A, D]) Run(ctx context.Context, r *Runner, opts ...Option) (*Result, error) {
	if r == nil {
		return nil, badArgument("make one with runner.New", "task %q: the runner is nil", t.Name)
	}
	o, err := r.cfg.options(opts)
	if err == nil {
		err = t.validate(o)
	}
	if err != nil {
		return nil, place(err, t.Name, o.runKey, 0, "")
	}
	return r.run(ctx, t.job(), o)
}

func (t Task[A, D]) validate(o options) error {
	switch {
	case strings.TrimSpace(t.Name) == "":
		return badArgument("set Task.Name", "the task has no name")
	case o.hasRunKey && strings.TrimSpace(o.runKey) == "":
		return badArgument("pass the scheduler's name for this run, or leave RunKey out to write straight to the live tables",
			"the run key is empty")
	case o.again && !o.hasRunKey:
		return badArgument("add runner.RunKey", "Again has no run key to do over")
	case o.publishMode != "" && !o.hasRunKey:
		return badArgument("add runner.RunKey: without one every write is live at once", "PublishMode has nothing to publish")
	case len(t.Tables) == 0:
		return badArgument(`set Task.Tables, for example runner.Tables{"counts": "anon.counts"}`, "the task has no tables")
	case t.Plans == nil && t.PlanList == nil:
		return badArgument("set Task.Plans or Task.PlanList", "the task has no planner")
	case t.Plans != nil && t.PlanList != nil:
		return badArgument("set only one of them", "the task has both Plans and PlanList")
	case t.Action == nil && t.Returns == nil:
		return badArgument("set Task.Action or Task.Returns", "the task has no action")
	case t.Action != nil && t.Returns != nil:
		return badArgument("set only one of them", "the task has both Action and Returns")
	case t.Cores < 0:
		return badArgument("use 1 or more; 0 means 1", "Task.Cores is %d", t.Cores)
	}
	return t.validateReturns()
}

func (t Task[A, D]) validateReturns() error {
	for _, alias := range slices.Sorted(maps.Keys(t.Tables)) {
		if alias == "" || strings.TrimSpace(t.Tables[alias]) == "" {
			return badArgument("write each as alias: schema.table", "Task.Tables has an empty name: %q: %q", alias, t.Tables[alias])
		}
	}
	switch {
	case t.Returns == nil && (t.ReturnTo != "" || t.ReturnAs != Insert):
		return badArgument("set Task.Returns", "the task has ReturnTo or ReturnAs, but no Returns")
	case t.Returns == nil:
		return nil
	case t.ReturnAs != Insert && t.ReturnAs != Upsert:
		return badArgument("use runner.Insert or runner.Upsert", "Task.ReturnAs is %d", int(t.ReturnAs))
	}
	if _, ok := t.Tables[t.ReturnTo]; !ok {
		return badArgument(fmt.Sprintf("it must be one of the names in Task.Tables: %s",
			strings.Join(slices.Sorted(maps.Keys(t.Tables)), ", ")), "Task.ReturnTo is %q", t.ReturnTo)
	}
	return nil
}
