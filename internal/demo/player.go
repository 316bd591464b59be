package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cs9gen/cs9gen/runner"
)

const (
	oldRows = 5 // in the table before a run
	weeks   = 3 // plans of the task, each of which writes one row
)

// errMadeToFail is why plan 3 fails where it is meant to.
var errMadeToFail = errors.New("made to fail")

// Attempt is one start of the demo's task.
type Attempt struct {
	Scenario string `json:"scenario"`
	// Outcome is the runner's, or "failed" or "stopped".
	Outcome string `json:"outcome"`
	// Number counts the attempts of the run; 0 when the attempt did not succeed.
	Number  int   `json:"attempt,omitempty"`
	Run     []int `json:"plans_run"`
	Skipped []int `json:"plans_skipped"`
}

// player plays the scenes, and keeps what was seen.
type player struct {
	*stage
	steps    []Step
	attempts []Attempt
}

type week struct {
	Week int `json:"week"`
}

type row struct {
	Week   int
	Region string
	N      int
}

// performance is one start of the task.
type performance struct {
	scenario  string
	runKey    string
	failPlan  int
	batchRows int
	onBatch   func(runner.Progress) error // the first batch of the publish is live

	attempt Attempt
	err     error // of the player itself
}

// task is the demo's task: one plan a week, and plan 1 drops all rows.
func (p *player) task(now *performance) runner.Task[week, any] {
	return runner.Task[week, any]{
		Name:   taskName,
		Tables: runner.Tables{"counts": tableName},
		Plans: func(context.Context, runner.Run) ([]week, error) {
			return []week{{1}, {2}, {3}}, nil
		},
		Before: func(ctx context.Context, run runner.Run, _ runner.Handles) error {
			return p.look(ctx, now, begun, 0, fmt.Sprintf("attempt %d", run.Attempt()))
		},
		Action: func(ctx context.Context, _ any, a runner.Args[week], tables runner.Handles) error {
			if a.FirstAnalysis {
				if err := tables["counts"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			if a.IndexPlan == now.failPlan {
				return errMadeToFail
			}
			return tables["counts"].Insert(ctx, runner.Rows([]row{{a.Value.Week, "north", 10 * a.Value.Week}}))
		},
	}
}

// start runs the task once, and looks at the table after every plan.
func (p *player) start(ctx context.Context, now *performance) error {
	now.attempt.Scenario, now.attempt.Run, now.attempt.Skipped = now.scenario, []int{}, []int{}
	r, err := runner.New(p.pool, &runner.Config{
		Logger:      slog.New(slog.DiscardHandler),
		LockTimeout: time.Minute,
		AliveGrace:  time.Minute,
		Progress:    func(e runner.Progress) { now.err = errors.Join(now.err, p.progress(ctx, now, e)) },
	})
	if err != nil {
		return err
	}
	options := []runner.Option{runner.RunKey(now.runKey)}
	if now.batchRows > 0 {
		options = append(options, runner.BatchRows(now.batchRows))
	}
	result, err := p.task(now).Run(ctx, r, options...)
	if now.err != nil {
		return errors.Join(now.err, err)
	}
	if result != nil {
		now.attempt.Outcome, now.attempt.Number = string(result.Outcome), result.Attempt
	}
	return err
}

// ended keeps the attempt, and looks at the table once more.
func (p *player) ended(ctx context.Context, now *performance, as moment, note string) error {
	if now.attempt.Outcome == "" {
		now.attempt.Outcome = string(as)
	}
	p.attempts = append(p.attempts, now.attempt)
	return p.look(ctx, now, as, 0, note)
}

// progress is told what happens while the task runs, and looks at the table.
func (p *player) progress(ctx context.Context, now *performance, e runner.Progress) error {
	switch e.Kind {
	case runner.PlanStarted:
		now.attempt.Run = append(now.attempt.Run, e.Plan)
	case runner.PlanFinished:
		note := "adds a row"
		if e.Plan == 1 {
			note = "drops all rows, adds a row"
		}
		return p.look(ctx, now, planDone, e.Plan, note)
	case runner.PlanFailed:
		return p.look(ctx, now, planFailed, e.Plan, "made to fail")
	case runner.PlanSkipped:
		now.attempt.Skipped = append(now.attempt.Skipped, e.Plan)
		return p.look(ctx, now, planSkipped, e.Plan, "its row was staged before")
	case runner.PublishBatch:
		if e.StepKind == "move" && now.onBatch != nil {
			onBatch := now.onBatch
			now.onBatch = nil
			return onBatch(e)
		}
	}
	return nil
}

// reset puts the old rows back.
func (p *player) reset(ctx context.Context) error {
	_, err := p.reader.Exec(ctx, "TRUNCATE "+tableName)
	if err == nil {
		_, err = p.reader.Exec(ctx, "INSERT INTO "+tableName+" SELECT g, 'north', 0 FROM generate_series(1, $1::integer) AS g", oldRows)
	}
	if err != nil {
		return fmt.Errorf("put the old rows in: %w", err)
	}
	return nil
}
