package cli

import (
	"cmp"
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

	bar   *progressbar.ProgressBar
	table string                  // of the bar
	moves map[int]runner.Progress // the last of each step of the table: one a mover
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
	Note      string `json:"note,omitempty"`
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
	p.a.noteJSON(progressLine{
		Progress: string(progress.Kind), RunID: progress.RunID, Step: progress.Step, Kind: progress.StepKind, Table: progress.Table,
		RowsDone: progress.RowsDone, RowsTotal: progress.RowsTotal, Done: progress.Done, Note: progress.Note, Waits: progress.Waits,
	})
}

func (p *publishProgress) tellBar(progress runner.Progress) {
	if p.table != progress.Table {
		p.end()
		p.table, p.moves = progress.Table, map[int]runner.Progress{}
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(max(progress.RowsTotal, 1),
			progressbar.OptionSetWriter(p.a.stderr), progressbar.OptionSetDescription(plain(progress.Table)),
			progressbar.OptionShowCount(), progressbar.OptionFullWidth(),
			progressbar.OptionSetPredictTime(false)) // the bar begins with the first batch, so it knows no rate yet
	}
	if progress.RowsDone >= p.moves[progress.Step].RowsDone { // two movers may tell of one step out of order
		p.moves[progress.Step] = progress
	}
	var rows, total int64
	done := true
	for _, m := range p.moves {
		rows, total, done = rows+m.RowsDone, total+m.RowsTotal, done && m.Done
	}
	// a bar that cannot be drawn stops no publish
	p.bar.ChangeMax64(max(total, 1))
	_ = p.bar.Set64(rows)
	if done {
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
	table := p.Table
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
		return table + ": " + cmp.Or(p.Note, "analyzed")
	case "apply":
		return p.Note
	case "close":
		return "all steps are done"
	}
	return fmt.Sprintf("step %d (%s) %s", p.Step, p.StepKind, table)
}
