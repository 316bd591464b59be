package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/runner"
)

const listHint = "cs9gen runs --all lists the runs"

// newest is how many runs are listed without --all.
const newest = 50

// runReport is a run as it is reported to programs.
type runReport struct {
	RunID         int64      `json:"run_id"`
	Task          string     `json:"task"`
	RunKey        string     `json:"run_key"`
	State         string     `json:"state"`
	Attempt       int        `json:"attempt"`
	Plans         int        `json:"plans"`
	PlansDone     int        `json:"plans_done"`
	RowsStaged    int64      `json:"rows_staged"`
	RowsToPublish int64      `json:"rows_to_publish"`
	RowsPublished int64      `json:"rows_published"`
	Today         string     `json:"today"`
	AgeSeconds    int64      `json:"age_seconds"`
	OwnerAlive    *bool      `json:"owner_alive"`
	Owner         string     `json:"owner"`
	Error         string     `json:"error,omitempty"`
	BegunAt       time.Time  `json:"begun_at"`
	AttemptAt     time.Time  `json:"attempt_at"`
	EndedAt       *time.Time `json:"ended_at,omitempty"`
	IsCurrent     bool       `json:"is_current"`
}

func reportOf(s *runner.RunStatus) runReport {
	return runReport{
		RunID: s.RunID, Task: s.Task, RunKey: s.RunKey, State: s.State, Attempt: s.Attempt,
		Plans: s.Plans, PlansDone: s.PlansDone,
		RowsStaged: s.RowsStaged, RowsToPublish: s.RowsToPublish, RowsPublished: s.RowsPublished,
		Today: s.Today.Format(time.DateOnly), AgeSeconds: int64(s.Age.Seconds()),
		OwnerAlive: s.OwnerAlive, Owner: s.Owner, Error: s.Error,
		BegunAt: s.BegunAt.UTC(), AttemptAt: s.AttemptAt.UTC(), EndedAt: utc(s.EndedAt), IsCurrent: s.IsCurrent,
	}
}

// utc is a time that may be missing, which the driver gives in the local zone.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	inUTC := t.UTC()
	return &inUTC
}

func newRunsCommand(a *app) *cobra.Command {
	var task string
	var all bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs, the newest first",
		Long: fmt.Sprintf(`Lists the newest %d runs. With --all it lists every run, and those too that
were discarded or done over.`, newest),
		Example: "  cs9gen runs\n  cs9gen runs --task rebuild_counts --all --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter := runner.RunFilter{Task: task, CurrentOnly: !all}
			if !all {
				filter.Limit = newest + 1
			}
			return a.withRunner(cmd, func(ctx context.Context, r *runner.Runner) error {
				runs, err := r.Runs(ctx, filter)
				if err != nil {
					return err
				}
				return a.reportRuns(runs, all)
			})
		},
	}
	a.addDatabaseFlag(cmd.Flags())
	cmd.Flags().StringVar(&task, "task", "", "only the runs of this task")
	cmd.Flags().BoolVar(&all, "all", false, "all runs, also those that were discarded or done over")
	return cmd
}

func (a *app) reportRuns(runs []runner.RunStatus, all bool) error {
	if !all && len(runs) > newest {
		runs = runs[:newest]
		a.remark("only the newest %d runs are listed; --all lists all", newest)
	}
	if a.json {
		reports := []runReport{}
		for i := range runs {
			reports = append(reports, reportOf(&runs[i]))
		}
		return a.printJSON(reports)
	}
	if len(runs) == 0 {
		return a.print("no runs\n")
	}
	t := table{head: []string{"RUN", "TASK", "RUN KEY", "STATE", "ATTEMPT", "PLANS DONE", "STAGED", "PUBLISHED", "TODAY", "AGE", "OWNER"}}
	for _, r := range runs {
		t.add(r.RunID, short(r.Task, 40), short(r.RunKey, 40), r.State, r.Attempt, fmt.Sprintf("%d/%d", r.PlansDone, r.Plans),
			r.RowsStaged, r.RowsPublished, r.Today.Format(time.DateOnly), r.Age, owner(&r))
	}
	return a.print(t.String())
}

// owner says whether a session of the task lives, which only matters before the
// run has ended.
func owner(r *runner.RunStatus) string {
	switch {
	case r.EndedAt != nil:
		return "-"
	case r.OwnerAlive == nil:
		return "unknown" // a standby does not see the sessions of the primary
	case *r.OwnerAlive:
		return "alive"
	}
	return "gone"
}
