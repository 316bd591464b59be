package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/internal/figures"
	"github.com/cs9gen/cs9gen/runner"
)

// movers is how many sessions move rows where the best number is asked for, and
// cores how many plans run side by side: as many as the measured machine has cores.
const (
	movers = 2
	cores  = 2
)

// measureRebuild compares whole runs of a task that rebuilds a table, by the
// runner and from an iterator, with psql's COPY of the same rows straight into
// the live table. That is the unsafe way: readers see a part.
func measureRebuild(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	var pieces []piece
	for _, o := range []order{random, sorted} {
		d := l.cfg.data(fullRows, o)
		add := func(name, table string, job func(template string) (job, error)) error {
			template, err := l.live(ctx, table, d)
			if err != nil {
				return err
			}
			j, err := job(template)
			pieces = append(pieces, l.piece(name+" "+string(o), j))
			return err
		}
		err := add("copy", counts, func(template string) (job, error) { return l.copyJob(template, d) })
		if err == nil && o == random && l.cfg.wants("B12") {
			err = add("batched", counts, func(template string) (job, error) {
				return l.rebuildJob(template, counts, d, 1, runner.Movers(movers)), nil
			})
		}
		if err == nil && l.cfg.wants("B3", "B4") {
			err = add("swap", swapped, func(template string) (job, error) { return l.rebuildJob(template, swapped, d, 1), nil })
		}
		if err == nil && l.cfg.wants("B4") {
			err = add("side by side", swapped, func(template string) (job, error) { return l.rebuildJob(template, swapped, d, cores), nil })
		}
		if err != nil {
			return nil, err
		}
		if !l.cfg.wants("B4") {
			break
		}
	}
	s, err := l.interleave(ctx, l.cfg.repeats, pieces)
	if err != nil {
		return nil, err
	}
	compare := func(measured, label string, o order, quantity func(sample) float64, reach float64) figures.Figure {
		copied := s.series("copy "+string(o), "`COPY` straight into the live table", seconds)
		return figures.NewFigure("time", "s", s.series(measured+" "+string(o), label, quantity), copied, reach)
	}
	const straight = "psql's COPY of the same rows straight into the live table with its key"
	return []figures.Benchmark{
		{
			ID: "B3", Measured: "the runner's Insert into staging, one worker, from an iterator", Against: straight,
			Figures: []figures.Figure{compare("swap", "staging by the runner", random, part("stage"), 0.4)},
			Notes:   []string{"The iterator makes each row as it is read; psql reads a file that was written before. The rows come in random order."},
		},
		{
			ID: "B4", Measured: "whole safe rebuild, swap: stage, checks, publish", Against: straight,
			Figures: []figures.Figure{
				compare("swap", "whole rebuild, swap, random order", random, seconds, 0.5),
				compare("swap", "whole rebuild, swap, key order", sorted, seconds, 0.75),
				compare("side by side", fmt.Sprintf("whole rebuild, swap, %d plans side by side, random order", cores), random, seconds, 0),
				compare("side by side", fmt.Sprintf("whole rebuild, swap, %d plans side by side, key order", cores), sorted, seconds, 0),
			},
			Notes: []string{
				"A call of Task.Run, from its first connection to its last; the live table held as many rows before. One plan stages all rows, or two plans half of them each, on two connections; psql has one.",
				"What limits it in key order: an index that grows at its end costs the COPY little, and one session that writes a bare heap takes 0.6 of the COPY already. Then come the unique index (a fifth of the rebuild), counting the rows and two times ANALYZE (a tenth). Two sessions that write one heap wait for each other to extend it.",
			},
		},
		{
			ID: "B12", Measured: "whole safe rebuild, batched", Against: straight,
			Figures: []figures.Figure{
				compare("batched", fmt.Sprintf("whole rebuild, batched, %d movers, random order", movers), random, seconds, 1.15),
			},
			Notes: []string{"A call of Task.Run, like B4."},
		},
	}, nil
}

// live is a database in which a table holds the rows of a dataset.
func (l *lab) live(ctx context.Context, table string, d dataset) (string, error) {
	base, err := l.base(ctx)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("live_%s_%d", table[len("anon."):], d.rows)
	return name, l.template(ctx, name, base, func(ctx context.Context, database string) error {
		return l.with(ctx, database, func(conn *pgx.Conn) error { return l.fill(ctx, conn, table, d) })
	})
}

// copyJob copies the rows from a file into the emptied live table.
func (l *lab) copyJob(template string, d dataset) (job, error) {
	path, err := l.file(d)
	if err != nil {
		return job{}, err
	}
	return job{
		template: template,
		prepare:  func(ctx context.Context, conn *pgx.Conn) error { return execute(ctx, conn, "TRUNCATE "+counts) },
		work: func(ctx context.Context, _ *pgx.Conn, database string) error {
			return l.runPsql(ctx, database, fmt.Sprintf(`\copy %s (day, location, n, rate, status) from '%s'`, counts, path))
		},
		check: func(ctx context.Context, conn *pgx.Conn) error { return holds(ctx, conn, counts, d) },
	}, nil
}

// rebuildJob runs a task that rebuilds a table.
func (l *lab) rebuildJob(template, table string, d dataset, cores int, options ...runner.Option) job {
	var staged time.Duration
	return job{
		template: template,
		work: func(ctx context.Context, _ *pgx.Conn, database string) error {
			return l.withRunner(ctx, database, func(r *runner.Runner) error {
				task := rebuild(table, d, &staged)
				if cores > 1 {
					task = rebuildSideBySide(table, d, cores)
				}
				_, err := task.Run(ctx, r, append(options, runner.RunKey("new"))...)
				return err //nolint:wrapcheck // it says all
			})
		},
		parts: func(context.Context, *pgx.Conn) (map[string]float64, error) {
			return map[string]float64{"stage": staged.Seconds()}, nil
		},
		check: func(ctx context.Context, conn *pgx.Conn) error { return holds(ctx, conn, table, d) },
	}
}

// rebuild is a task of one plan that rebuilds a table. It tells how long the
// Insert into staging took.
func rebuild(table string, d dataset, staged *time.Duration) runner.Task[int, struct{}] {
	return runner.Task[int, struct{}]{
		Name:   taskName,
		Tables: runner.Tables{"counts": table},
		Plans:  func(context.Context, runner.Run) ([]int, error) { return []int{1}, nil },
		Action: func(ctx context.Context, _ struct{}, _ runner.Args[int], tables runner.Handles) error {
			if err := tables["counts"].DropAllRows(ctx); err != nil {
				return err //nolint:wrapcheck // the runner's own
			}
			began := time.Now()
			err := tables["counts"].Insert(ctx, runner.Seq(d.all()))
			*staged = time.Since(began)
			return err //nolint:wrapcheck // the runner's own
		},
	}
}

// rebuildSideBySide is a task of as many plans as there are cores that rebuild a
// table, between one that empties it and one that does nothing.
func rebuildSideBySide(table string, d dataset, cores int) runner.Task[int, struct{}] {
	return runner.Task[int, struct{}]{
		Name:   taskName,
		Tables: runner.Tables{"counts": table},
		Cores:  cores,
		Plans: func(context.Context, runner.Run) ([]int, error) {
			plans := make([]int, cores+2)
			for i := range plans {
				plans[i] = i
			}
			return plans, nil
		},
		Action: func(ctx context.Context, _ struct{}, a runner.Args[int], tables runner.Handles) error {
			switch a.Value {
			case 0:
				return tables["counts"].DropAllRows(ctx) //nolint:wrapcheck // the runner's own
			case cores + 1:
				return nil
			}
			return tables["counts"].Insert(ctx, runner.Seq(d.part(a.Value-1, cores))) //nolint:wrapcheck // the runner's own
		},
	}
}

// withRunner calls do with a runner for a database.
func (l *lab) withRunner(ctx context.Context, database string, do func(r *runner.Runner) error) error {
	return withRunner(ctx, l.server.URL(database), l.cfg.batch(), do)
}

func withRunner(ctx context.Context, url string, batch int, do func(r *runner.Runner) error) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer pool.Close()
	r, err := runner.New(pool, &runner.Config{Logger: slog.New(slog.DiscardHandler), BatchRows: batch})
	if err != nil {
		return fmt.Errorf("make a runner: %w", err)
	}
	return do(r)
}

// errStaged ends a run when all is staged.
var errStaged = errors.New("all is staged")
