package runner

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ProgressKind is what a [Progress] tells of.
type ProgressKind string

// The kinds.
const (
	RunBegun      ProgressKind = "run begun" // the plans, or the publish, come next
	PlanStarted   ProgressKind = "plan started"
	PlanFinished  ProgressKind = "plan finished"
	PlanSkipped   ProgressKind = "plan skipped"
	PlanFailed    ProgressKind = "plan failed"
	PlanCancelled ProgressKind = "plan cancelled" // by the caller's context, or because another plan failed
	RunProving    ProgressKind = "run proving"    // all plans are done: what was staged is proved
	RunProved     ProgressKind = "run proved"     // after Elapsed
	PublishBatch  ProgressKind = "publish batch"  // a step of a publish, or one batch of it, was done
	PublishWaits  ProgressKind = "publish waits"  // a step met a lock, and is tried again
	RunEnded      ProgressKind = "run ended"      // with Err where it failed
)

// Progress is one thing that happened in a run. Fields that do not apply are zero.
type Progress struct {
	Kind   ProgressKind
	Task   string
	RunKey string
	RunID  int64

	// Plan of Plans: the plan kinds; Plans alone: RunBegun. Rows and Elapsed are
	// those of a finished plan, Err that of a failed or cancelled one.
	Plan, Plans int
	Elapsed     time.Duration
	Err         error

	// Step, its kind and table: the publish kinds. Rows are those of the batch.
	// StepKind: truncate, delete, move, apply, close or analyze. A table has one
	// step move for each of its movers; apply is that of all tables that are not
	// batched, and names none. The run is published with close; analyze, behind
	// it, is left out where the table cannot be had, and Note says so.
	Step     int
	StepKind string
	Table    string
	Rows     int64
	// RowsDone of RowsTotal: of the step, so far. Done: the step is. With several
	// movers an earlier number may be told later, and RowsTotal is an estimate
	// until the step is done.
	RowsDone, RowsTotal int64
	Done                bool
	// Note says what the step "apply" did, to each of its tables, and why a step
	// "analyze" was left out.
	Note string
	// Waits counts the tries that met a lock: PublishWaits.
	Waits int
}

// reporter passes the progress of one run on, one call at a time.
type reporter struct {
	mu     sync.Mutex
	log    *slog.Logger
	tell   func(Progress)
	task   string
	runKey string
}

func (r *reporter) report(p Progress) {
	p.Task = r.task
	if p.RunKey == "" {
		p.RunKey = r.runKey
	}
	if r.tell == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := protect(func() error { r.tell(p); return nil }); err != nil {
		r.log.Error("the progress function failed; the run goes on", "error", err)
	}
}

// failed logs, once for a run, how it failed, and tells of its end.
func (r *reporter) failed(ctx context.Context, runID int64, err error) {
	level, message := slog.LevelError, "run failed"
	if ctx.Err() != nil {
		level, message = slog.LevelWarn, "run cancelled"
	}
	args := []any{"error", err}
	var e *Error
	if errors.As(err, &e) && e.Plan != 0 {
		args = append([]any{"plan", e.Plan}, args...)
	}
	if runID != 0 {
		args = append([]any{"run_id", runID}, args...)
	}
	r.log.Log(ctx, level, message, args...)
	r.report(Progress{Kind: RunEnded, RunID: runID, Err: err})
}

// ended logs a result, and tells of the end.
func (r *reporter) ended(result *Result) {
	r.report(Progress{Kind: RunEnded, RunID: result.RunID})
	r.log.Info("run ended", "outcome", string(result.Outcome), "run_id", result.RunID, "attempt", result.Attempt,
		"plans_run", len(result.PlansRun), "plans_skipped", len(result.PlansSkipped), "rows_published", result.RowsPublished)
}

// batchNotice is the DETAIL of the notices that cs9.publish raises.
type batchNotice struct {
	RunID     int64  `json:"run_id"`
	Step      int    `json:"step"`
	Kind      string `json:"kind"`
	Table     string `json:"table"`
	Rows      int64  `json:"rows"`
	RowsDone  int64  `json:"rows_done"`
	RowsTotal int64  `json:"rows_total"`
	Done      bool   `json:"done"`
	Note      string `json:"note"`
	Waits     int    `json:"waits"`
}

// discardedKind is that of the notice which begin_run raises for an older run
// that had failed.
const discardedKind = "discarded"

func discarded(detail string) bool {
	var n batchNotice
	return json.Unmarshal([]byte(detail), &n) == nil && n.Kind == discardedKind
}

// publishProgress reads the DETAIL of a notice; ok is false for any other notice.
func publishProgress(detail string) (p Progress, ok bool) {
	var n batchNotice
	if json.Unmarshal([]byte(detail), &n) != nil || n.RunID == 0 || n.Kind == "" || n.Kind == discardedKind {
		return p, false
	}
	kind := PublishBatch
	if n.Waits > 0 {
		kind = PublishWaits
	}
	return Progress{
		Kind: kind, RunID: n.RunID, Step: n.Step, StepKind: n.Kind, Table: n.Table,
		Rows: n.Rows, RowsDone: n.RowsDone, RowsTotal: n.RowsTotal, Done: n.Done, Note: n.Note, Waits: n.Waits,
	}, true
}
