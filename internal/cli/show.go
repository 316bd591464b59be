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

// foldedFrom is how many plans are listed one by one.
const foldedFrom = 50

// listed is how many lines of plans are shown without --all.
const listed = 200

func newShowCommand(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "show TASK RUN_KEY",
		Short: "Show a run, its plans and its publish",
		Long: fmt.Sprintf(`Shows a run, which of its plans the last attempt skipped because they were done,
and how far its publish is. More than %d plans are shown as ranges of plans that
are in the same state; --all lists each, and --json always does.`, foldedFrom),
		Example: `  cs9gen show rebuild_counts "week 40"`,
		Args:    takes("TASK", "RUN_KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRunner(cmd, func(ctx context.Context, r *runner.Runner) error {
				detail, err := r.Show(ctx, args[0], args[1])
				if err != nil {
					return advise(err, runner.ErrRunUnknown, listHint)
				}
				return a.reportDetail(detail, all)
			})
		},
	}
	a.addDatabaseFlag(cmd.Flags())
	cmd.Flags().BoolVar(&all, "all", false, "list each plan, also where there are many")
	return cmd
}

func (a *app) reportDetail(d *runner.RunDetail, all bool) error {
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
		plans, more := aboutPlans(d.PlanList, all)
		b.WriteString("\n" + plans)
		if more > 0 {
			a.remark("%s more are not listed; --all lists each plan", count(int64(more), "range"))
		}
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

// aboutPlans lists the plans, and returns how many lines were left out.
func aboutPlans(plans []runner.PlanStatus, all bool) (text string, more int) {
	ranges := planRanges(plans, !all && len(plans) > foldedFrom)
	if !all && len(ranges) > listed {
		ranges, more = ranges[:listed], len(ranges)-listed
	}
	t := table{head: []string{"PLAN", "STATE", "ATTEMPT", "SKIPPED", "STAGED", "ARGSETS"}}
	for _, r := range ranges {
		p, last := r[0], r[len(r)-1]
		if len(r) == 1 {
			t.add(p.Plan, p.State, known(p.Attempt), yes(p.Skipped), known(p.RowsStaged), short(string(p.Argsets), 60))
			continue
		}
		var staged *int64
		for _, p := range r {
			if p.RowsStaged != nil {
				sum := *p.RowsStaged
				if staged != nil {
					sum += *staged
				}
				staged = &sum
			}
		}
		t.add(fmt.Sprintf("%d-%d", p.Plan, last.Plan), p.State, known(p.Attempt), yes(p.Skipped), known(staged),
			short(string(p.Argsets), 28)+" … "+short(string(last.Argsets), 28))
	}
	text = t.String()
	for _, r := range ranges {
		if p := r[0]; p.Error != "" {
			if reason, ok := strings.CutPrefix(p.Error, "cancelled: "); ok {
				text += fmt.Sprintf("plan %d cancelled: %s\n", p.Plan, plain(reason))
			} else {
				text += fmt.Sprintf("plan %d failed: %s\n", p.Plan, plain(p.Error))
			}
		}
	}
	return text, more
}

// planRanges puts plans that follow each other and are in the same state together;
// one with an error stands alone.
func planRanges(plans []runner.PlanStatus, fold bool) [][]runner.PlanStatus {
	var out [][]runner.PlanStatus
	for _, p := range plans {
		if last := len(out) - 1; fold && last >= 0 && sameState(out[last][0], p) {
			out[last] = append(out[last], p)
			continue
		}
		out = append(out, []runner.PlanStatus{p})
	}
	return out
}

func sameState(a, b runner.PlanStatus) bool {
	return a.State == b.State && known(a.Attempt) == known(b.Attempt) && a.Skipped == b.Skipped && a.Error == "" && b.Error == ""
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
