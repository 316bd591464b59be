package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/runner"
)

// runDetail is a run, its plans and the steps of its publish, for programs.
type runDetail struct {
	runReport
	PlanList []runner.PlanStatus `json:"plan_list"`
	Steps    []runner.StepStatus `json:"steps"`
}

func newShowCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show TASK RUN_KEY",
		Short:   "Show a run, its plans and its publish",
		Long:    "Shows a run, which of its plans the last attempt skipped because they were done,\nand how far its publish is.",
		Example: `  cs9gen show rebuild_counts "week 40"`,
		Args:    takes("TASK", "RUN_KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRunner(cmd, func(ctx context.Context, r *runner.Runner) error {
				detail, err := r.Show(ctx, args[0], args[1])
				if err != nil {
					return advise(err, runner.ErrRunUnknown, listHint)
				}
				return a.reportDetail(detail)
			})
		},
	}
	a.addDatabaseFlag(cmd.Flags())
	return cmd
}

func (a *app) reportDetail(d *runner.RunDetail) error {
	if a.json {
		report := runDetail{runReport: reportOf(&d.RunStatus), PlanList: []runner.PlanStatus{}, Steps: []runner.StepStatus{}}
		for _, p := range d.PlanList {
			p.BeganAt, p.FinishedAt = utc(p.BeganAt), utc(p.FinishedAt)
			report.PlanList = append(report.PlanList, p)
		}
		for _, s := range d.Steps {
			s.BeganAt, s.FinishedAt = utc(s.BeganAt), utc(s.FinishedAt)
			report.Steps = append(report.Steps, s)
		}
		return a.printJSON(report)
	}
	var b strings.Builder
	b.WriteString(aboutRun(&d.RunStatus))
	if len(d.PlanList) > 0 {
		b.WriteString("\n" + aboutPlans(d.PlanList))
	}
	if len(d.Steps) > 0 {
		b.WriteString("\n" + aboutSteps(d.Steps))
	}
	return a.print(b.String())
}

func aboutRun(r *runner.RunStatus) string {
	var t table
	t.add("run", r.RunID)
	t.add("task", r.Task)
	t.add("run key", r.RunKey)
	t.add("state", r.State)
	t.add("attempt", r.Attempt)
	t.add("today", r.Today.Format(time.DateOnly))
	t.add("begun", instant(r.BegunAt))
	if r.EndedAt != nil {
		t.add("ended", instant(*r.EndedAt))
	} else {
		t.add("owner", strings.TrimSpace(owner(r)+" "+r.Owner))
	}
	t.add("plans done", fmt.Sprintf("%d of %d", r.PlansDone, r.Plans))
	t.add("staged", count(r.RowsStaged, "row"))
	if r.RowsToPublish > 0 {
		t.add("published", fmt.Sprintf("%d of %s", r.RowsPublished, count(r.RowsToPublish, "row")))
	}
	if r.Error != "" {
		t.add("error", r.Error)
	}
	return t.String()
}

func aboutPlans(plans []runner.PlanStatus) string {
	t := table{head: []string{"PLAN", "STATE", "ATTEMPT", "SKIPPED", "STAGED", "ARGSETS"}}
	for _, p := range plans {
		t.add(p.Plan, p.State, known(p.Attempt), yes(p.Skipped), known(p.RowsStaged), short(string(p.Argsets), 60))
	}
	text := t.String()
	for _, p := range plans {
		if p.Error != "" {
			text += fmt.Sprintf("plan %d failed: %s\n", p.Plan, plain(p.Error))
		}
	}
	return text
}

func aboutSteps(steps []runner.StepStatus) string {
	t := table{head: []string{"STEP", "KIND", "TABLE", "STATE", "ROWS DONE", "ROWS", "BATCHES"}}
	for _, s := range steps {
		where := s.Relation
		if where == "" {
			where = s.Table
		}
		t.add(s.Step, s.Kind, orDash(where), s.State, s.RowsDone, known(s.RowsTotal), s.Batches)
	}
	return t.String()
}

// known returns a number, or a dash for one that is not known.
func known[T any](n *T) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
