package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// moment is when the demo looks at the table.
type moment string

const (
	before      moment = "before"
	begun       moment = "begun"
	planDone    moment = "plan done"
	planFailed  moment = "plan failed"
	planSkipped moment = "plan skipped"
	published   moment = "published"
	failed      moment = "failed"
	stopped     moment = "stopped"
	resumed     moment = "resumed"
)

// Step is what a reader on a connection of its own saw at one moment, and what
// the run had staged by then.
type Step struct {
	Scenario string `json:"scenario"`
	Moment   moment `json:"moment"`
	Plan     int    `json:"plan,omitempty"`
	// Old are the rows that were there before the run, New the weeks of the
	// rows that it wrote, as a reader sees them.
	Old int   `json:"reader_sees_old_rows"`
	New []int `json:"reader_sees_new_weeks"`
	// Staged are the weeks of the rows that are staged.
	Staged []int  `json:"staged_weeks"`
	Note   string `json:"note,omitempty"`
}

// Rows is how many rows a reader sees.
func (s Step) Rows() int { return s.Old + len(s.New) }

// look keeps what a reader sees now.
func (p *player) look(ctx context.Context, now *performance, at moment, plan int, note string) error {
	step := Step{Scenario: now.scenario, Moment: at, Plan: plan, New: []int{}, Staged: []int{}, Note: note}
	rows, err := p.reader.Query(ctx, "SELECT week, n FROM "+tableName+" ORDER BY week")
	if err != nil {
		return fmt.Errorf("look at the table: %w", err)
	}
	var week, n int
	_, err = pgx.ForEachRow(rows, []any{&week, &n}, func() error {
		if n == 0 {
			step.Old++
		} else {
			step.New = append(step.New, week)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at the table: %w", err)
	}
	if step.Staged, err = p.staged(ctx, now.runKey); err != nil {
		return fmt.Errorf("look at what is staged: %w", err)
	}
	p.steps = append(p.steps, step)
	return nil
}

// staged returns the weeks of the rows that the run has staged.
func (p *player) staged(ctx context.Context, runKey string) ([]int, error) {
	var table string
	err := p.reader.QueryRow(ctx, `SELECT cs9.staged_label(t.run_id, t.table_id)
		FROM cs9.run_table AS t JOIN cs9.run_status AS r USING (run_id)
		WHERE r.task = $1 AND r.run_key = $2 AND r.is_current AND t.staged_name IS NOT NULL`, taskName, runKey).Scan(&table)
	if errors.Is(err, pgx.ErrNoRows) {
		return []int{}, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := p.reader.Query(ctx, "SELECT week FROM "+table+" ORDER BY week")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}
