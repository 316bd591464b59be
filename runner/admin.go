package runner

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// RunStatus is one row of cs9.run_status.
type RunStatus struct {
	RunID         int64         `json:"run_id"`
	Task          string        `json:"task"`
	RunKey        string        `json:"run_key"`
	State         string        `json:"state"`
	Attempt       int           `json:"attempt"`
	Plans         int           `json:"plans"`
	PlansDone     int           `json:"plans_done"`
	RowsStaged    int64         `json:"rows_staged"`
	RowsToPublish int64         `json:"rows_to_publish"`
	RowsPublished int64         `json:"rows_published"`
	Today         time.Time     `json:"today"`
	Age           time.Duration `json:"age"`
	OwnerAlive    *bool         `json:"owner_alive"` // nil on a standby, which does not know
	Owner         string        `json:"owner"`
	Error         string        `json:"error,omitempty"`
	BegunAt       time.Time     `json:"begun_at"`
	AttemptAt     time.Time     `json:"attempt_at"`
	EndedAt       *time.Time    `json:"ended_at,omitempty"`
	IsCurrent     bool          `json:"is_current"`
}

// PlanStatus is one row of cs9.plan_status.
type PlanStatus struct {
	Plan       int             `json:"plan"`
	Argsets    json.RawMessage `json:"argsets"`
	State      string          `json:"state"`
	Attempt    *int            `json:"attempt,omitempty"`
	Skipped    bool            `json:"skipped"`
	RowsStaged *int64          `json:"rows_staged,omitempty"`
	Error      string          `json:"error,omitempty"`
	BeganAt    *time.Time      `json:"began_at,omitempty"`
	FinishedAt *time.Time      `json:"finished_at,omitempty"`
}

// StepStatus is one row of cs9.publish_progress.
type StepStatus struct {
	Step       int        `json:"step"`
	Kind       string     `json:"kind"`
	Table      string     `json:"table,omitempty"`
	Relation   string     `json:"relation,omitempty"`
	State      string     `json:"state"`
	RowsTotal  *int64     `json:"rows_total,omitempty"`
	RowsDone   int64      `json:"rows_done"`
	Percent    float64    `json:"percent"`
	Batches    int        `json:"batches"`
	Note       string     `json:"note,omitempty"`
	BeganAt    *time.Time `json:"began_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// RunDetail is a run with its plans and the steps of its publish.
type RunDetail struct {
	RunStatus
	PlanList []PlanStatus `json:"plan_list"`
	Steps    []StepStatus `json:"steps"`
}

// RunFilter says which runs to list. The zero value means all.
type RunFilter struct {
	RunID  int64
	Task   string
	RunKey string
	// States: running, ready, publishing, published, discarded.
	States []string
	// CurrentOnly leaves out runs that were discarded or done over.
	CurrentOnly bool
	// Limit is how many of the newest to list. Defaults to all.
	Limit int
}

// Publish publishes a run that is ready, or the rest of one whose publish
// stopped; a run that is published already is [ErrPublished]. It takes the
// options [BatchRows], [Movers] and [PublishMode]; any other is
// [ErrBadArgument]. It cannot run inside a transaction, because it commits after
// each batch; so it takes none.
func (r *Runner) Publish(ctx context.Context, task, runKey string, opts ...Option) (*Result, error) {
	o, err := r.cfg.options(opts)
	if err == nil {
		err = o.forPublish()
	}
	if err != nil {
		return nil, place(err, task, runKey, 0, "")
	}
	own, report, err := r.openOwner(ctx, task, runKey)
	if err != nil {
		return nil, place(err, task, runKey, 0, "")
	}
	defer own.close()
	run, err := publishable(ctx, own, task, runKey)
	if err == nil && o.publishMode != "" && run.State == "ready" {
		err = own.setPublishMode(ctx, task, runKey, o.publishMode)
	}
	if err == nil {
		err = r.publish(ctx, own, report, task, runKey, o)
	}
	if err != nil {
		return nil, place(err, task, runKey, 0, nextAfterPublish(ctx, own, run.RunID))
	}
	result := &Result{Outcome: Published, Task: task, RunKey: runKey, RunID: run.RunID}
	if run.State == "publishing" {
		result.Outcome = PublishedRest
	}
	fill(ctx, own, result, report)
	report.ended(result)
	return result, nil
}

// publishable claims the task of a run that exists, and returns the run as it is
// before its publish. When there is none, cs9.publish says what is wrong.
func publishable(ctx context.Context, own owner, task, runKey string) (RunStatus, error) {
	if err := own.assertSession(ctx); err != nil {
		return RunStatus{}, err
	}
	if _, err := own.describe(ctx, nil); err != nil {
		return RunStatus{}, err
	}
	runs, err := own.runs(ctx, RunFilter{Task: task, RunKey: runKey, CurrentOnly: true})
	if err != nil || len(runs) == 0 {
		return RunStatus{}, err
	}
	claim, err := own.claim(ctx, task, runKey)
	if err != nil || claim.runID == 0 {
		return RunStatus{}, err
	}
	return oneRun(ctx, own, claim.runID)
}

func oneRun(ctx context.Context, own owner, runID int64) (RunStatus, error) {
	runs, err := own.runs(ctx, RunFilter{RunID: runID})
	if err != nil || len(runs) == 0 {
		return RunStatus{}, err
	}
	return runs[0], nil
}

// Discard gives a run up: what it staged is dropped, and its key is free again.
// A run that is publishing needs force; what it has published so far stays.
func (r *Runner) Discard(ctx context.Context, task, runKey string, force bool) error {
	own, _, err := r.openOwner(ctx, task, runKey)
	if err != nil {
		return place(err, task, runKey, 0, "")
	}
	defer own.close()
	if err = own.assertSession(ctx); err == nil {
		_, err = own.describe(ctx, nil)
	}
	if err == nil {
		err = own.discard(ctx, task, runKey, force)
	}
	if err != nil {
		return place(err, task, runKey, 0, "")
	}
	return nil
}

// Runs lists runs, the newest first.
func (r *Runner) Runs(ctx context.Context, filter RunFilter) ([]RunStatus, error) {
	own, _, err := r.openOwner(ctx, filter.Task, filter.RunKey)
	if err != nil {
		return nil, err
	}
	defer own.close()
	if _, err := own.describe(ctx, nil); err != nil {
		return nil, err
	}
	return own.runs(ctx, filter)
}

// Show returns the run that task and run key name: the current one, or else the
// last that had the key. [ErrRunUnknown] when there is none.
func (r *Runner) Show(ctx context.Context, task, runKey string) (*RunDetail, error) {
	own, _, err := r.openOwner(ctx, task, runKey)
	if err != nil {
		return nil, place(err, task, runKey, 0, "")
	}
	defer own.close()
	detail, err := showRun(ctx, own, task, runKey)
	if err != nil {
		return nil, place(err, task, runKey, 0, "")
	}
	return detail, nil
}

func showRun(ctx context.Context, own owner, task, runKey string) (*RunDetail, error) {
	if _, err := own.describe(ctx, nil); err != nil {
		return nil, err
	}
	runs, err := own.runs(ctx, RunFilter{Task: task, RunKey: runKey})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, refuse(ErrRunUnknown, "show", "there is no such run", "list the runs: cs9gen runs")
	}
	run := runs[0]
	for _, other := range runs {
		if other.IsCurrent {
			run = other
			break
		}
	}
	detail := &RunDetail{RunStatus: run}
	detail.PlanList, detail.Steps, err = own.show(ctx, run.RunID)
	return detail, err
}

func isAlive(err error) bool { return errors.Is(err, ErrRunAlive) }
