package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cs9gen/cs9gen/internal/figures"
	"github.com/cs9gen/cs9gen/runner"
)

// measurePlans compares what it costs to drive empty plans, one after the
// other, with durable steps of DBOS and with jobs of River.
func measurePlans(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	s, err := l.interleave(ctx, l.cfg.repeats, []piece{
		{"plans", l.drivePlans},
		{"DBOS", l.driveDBOS},
		{"River", l.driveRiver},
	})
	if err != nil {
		return nil, err
	}
	each := func(s sample) float64 { return s.seconds * 1000 / float64(l.cfg.plans()) }
	log := func(s sample) float64 { return s.wal * 1000 / float64(l.cfg.plans()) }
	steps, jobs := s.series("DBOS", "a durable step of DBOS Transact for Go", each), s.series("River", "a job of River", each)
	better, other := steps, jobs
	if jobs.Median < steps.Median {
		better, other = jobs, steps
	}
	plan := s.series("plans", "an empty plan with a run key", each)
	return []figures.Benchmark{{
		ID: "B7", Measured: fmt.Sprintf("driving %s empty plans with a run key", thousands(l.cfg.plans())),
		Against: "as many durable steps in DBOS Transact for Go, and as many jobs of River",
		Figures: []figures.Figure{
			figures.NewFigure("time", "ms", plan, better, 0.5),
			figures.NewFigure("time", "ms", plan, other, 0),
			figures.NewFigure("WAL", "kB", s.series("plans", plan.Label, log), s.series("DBOS", steps.Label, log), 0),
			figures.NewFigure("WAL", "kB", s.series("plans", plan.Label, log), s.series("River", jobs.Label, log), 0),
		},
		Notes: []string{
			"cs9gen: Task.Run from begin to end, with one worker: the plans run one after the other, and one statement, one commit, ends a plan and begins the next. " +
				"DBOS: one workflow that runs the steps one after the other with RunAsStep, from RunWorkflow to its result. " +
				"River: a client that works with 100 workers, as in its README, and else its defaults (FetchCooldown 100 ms); from InsertMany of all jobs to the last one's event. " +
				"Migrations, the first connection and the start of each client are not timed.",
		},
	}}, nil
}

// drivePlans runs a task whose plans do nothing.
func (l *lab) drivePlans(ctx context.Context) (s sample, err error) {
	base, err := l.base(ctx)
	if err != nil {
		return s, err
	}
	database, drop, err := l.clone(ctx, base)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	done := 0
	task := runner.Task[int, struct{}]{
		Name:   taskName,
		Tables: runner.Tables{"counts": counts},
		Plans: func(context.Context, runner.Run) ([]int, error) {
			plans := make([]int, l.cfg.plans())
			for i := range plans {
				plans[i] = i
			}
			return plans, nil
		},
		Action: func(context.Context, struct{}, runner.Args[int], runner.Handles) error {
			done++
			return nil
		},
		AllowEmpty: true,
	}
	err = l.withRunner(ctx, database, func(r *runner.Runner) error {
		s, err = l.timed(ctx, func() error {
			_, err := task.Run(ctx, r, runner.RunKey("new"))
			return err //nolint:wrapcheck // it says all
		})
		return err
	})
	if err == nil && done != l.cfg.plans() {
		err = fmt.Errorf("ran %d plans of %d", done, l.cfg.plans())
	}
	return s, err
}
