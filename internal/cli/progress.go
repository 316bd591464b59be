package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cs9gen/cs9gen/runner"
)

// publishProgress tells of the steps of a publish on standard error: a bar for
// the table whose rows are moved on a terminal, JSON with --json, else lines.
type publishProgress struct {
	a    *app
	bars bool
	seen bool // a step was reported
	step int  // of the bar
	bar  *progressbar.ProgressBar
}

func (a *app) newPublishProgress() *publishProgress {
	f, isFile := a.stderr.(*os.File)
	return &publishProgress{a: a, bars: isFile && !a.json && term.IsTerminal(int(f.Fd()))}
}

// progressLine is one JSON line of progress.
type progressLine struct {
	Progress  string `json:"progress"` // publish batch, publish waits
	RunID     int64  `json:"run_id"`
	Step      int    `json:"step"`
	Kind      string `json:"kind"`
	Table     string `json:"table,omitempty"`
	RowsDone  int64  `json:"rows_done"`
	RowsTotal int64  `json:"rows_total"`
	Done      bool   `json:"done"`
	Waits     int    `json:"waits,omitempty"`
}

// tell is called by the runner, one call at a time.
func (p *publishProgress) tell(progress runner.Progress) {
	if progress.Kind != runner.PublishBatch && progress.Kind != runner.PublishWaits {
		return
	}
	p.seen = p.seen || progress.Kind == runner.PublishBatch
	switch {
	case p.a.json:
		p.tellJSON(progress)
	case p.bars && progress.Kind == runner.PublishBatch && progress.StepKind == "move":
		p.tellBar(progress)
	default:
		p.end()
		p.a.note("%s\n", progressText(progress))
	}
}

func (p *publishProgress) tellJSON(progress runner.Progress) {
	text, err := json.Marshal(progressLine{
		Progress: string(progress.Kind), RunID: progress.RunID, Step: progress.Step, Kind: progress.StepKind, Table: progress.Table,
		RowsDone: progress.RowsDone, RowsTotal: progress.RowsTotal, Done: progress.Done, Waits: progress.Waits,
	})
	if err == nil {
		p.a.note("%s\n", text)
	}
}

func (p *publishProgress) tellBar(progress runner.Progress) {
	if p.bar == nil || p.step != progress.Step {
		p.end()
		p.step = progress.Step
		p.bar = progressbar.NewOptions64(max(progress.RowsTotal, 1),
			progressbar.OptionSetWriter(p.a.stderr), progressbar.OptionSetDescription(plain(progress.Table)),
			progressbar.OptionShowCount(), progressbar.OptionFullWidth(),
			progressbar.OptionSetPredictTime(false)) // the bar begins with the first batch, so it knows no rate yet
	}
	_ = p.bar.Set64(progress.RowsDone) // a bar that cannot be drawn stops no publish
	if progress.Done {
		_ = p.bar.Finish()
		p.end()
	}
}

// end leaves the line of the bar.
func (p *publishProgress) end() {
	if p.bar != nil {
		p.a.note("\n")
		p.bar = nil
	}
}

// progressText says what was done, in a line.
func progressText(p runner.Progress) string {
	table := plain(p.Table)
	if p.Kind == runner.PublishWaits {
		return fmt.Sprintf("%s: locked by another session, try %d follows", orDash(table), p.Waits)
	}
	switch p.StepKind {
	case "truncate":
		return table + ": emptied"
	case "delete":
		return fmt.Sprintf("%s: %s deleted", table, count(p.RowsDone, "row"))
	case "move":
		return fmt.Sprintf("%s: %d of %s moved", table, p.RowsDone, count(p.RowsTotal, "row"))
	case "analyze":
		return table + ": analyzed"
	case "close":
		return "all steps are done"
	}
	return fmt.Sprintf("step %d (%s) %s", p.Step, p.StepKind, table)
}
