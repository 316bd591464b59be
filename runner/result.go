package runner

import (
	"fmt"
	"time"
)

// Outcome is how a run ended that did not fail.
type Outcome string

// The outcomes.
const (
	// Published: the plans ran, and what they staged is live.
	Published Outcome = "published"
	// AlreadyPublished: the run key was published before; nothing was done.
	AlreadyPublished Outcome = "already published"
	// PublishedRest: an earlier attempt's publish had stopped, and the rest of
	// it is live now; no plan ran.
	PublishedRest Outcome = "published the rest"
	// Ready: the plans ran, and what they staged is proved; the login may not
	// publish it. Another one does: CALL cs9.publish, or [Runner.Publish].
	Ready Outcome = "ready"
	// Direct: there was no run key; each write went to the live table at once.
	Direct Outcome = "direct"
)

// Result is what a run did.
type Result struct {
	Outcome Outcome
	Task    string
	RunKey  string
	// RunID and Attempt are those of cs9.run_status; 0 without a run key.
	RunID   int64
	Attempt int
	// Today is the run's date, as midnight UTC.
	Today time.Time
	// Plans is how many plans the run has.
	Plans int
	// PlansRun and PlansSkipped are the plans of this attempt, in order.
	PlansRun, PlansSkipped []int
	// RowsStaged are the rows that all attempts staged, and RowsPublished those
	// that became live. Without a run key RowsPublished are the rows written.
	RowsStaged, RowsPublished int64
	// PublishedOlder is the run key of an older run of the task that was ready,
	// or whose publish had stopped, and was published first: "" when there was
	// none.
	PublishedOlder string
}

// String says it in one line.
func (r *Result) String() string {
	switch r.Outcome {
	case AlreadyPublished:
		return fmt.Sprintf("task %q, run key %q: was published before, nothing to do; runner.Again does it over", r.Task, r.RunKey)
	case PublishedRest:
		return fmt.Sprintf("task %q, run key %q: the rest of a stopped publish is live, %d rows in all", r.Task, r.RunKey, r.RowsPublished)
	case Ready:
		return fmt.Sprintf("task %q, run key %q: %d plans run, %d skipped, %d rows staged; ready for a login that may publish it: cs9gen publish %s %s",
			r.Task, r.RunKey, len(r.PlansRun), len(r.PlansSkipped), r.RowsStaged, r.Task, r.RunKey)
	case Direct:
		return fmt.Sprintf("task %q: %d plans wrote %d rows to the live tables", r.Task, len(r.PlansRun), r.RowsPublished)
	}
	return fmt.Sprintf("task %q, run key %q: %d plans run, %d skipped, %d rows published",
		r.Task, r.RunKey, len(r.PlansRun), len(r.PlansSkipped), r.RowsPublished)
}
