package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/figures"
	"github.com/cs9gen/cs9gen/runner"
)

// The environment of a process that only stages rows, and tells its memory.
const (
	childURL  = "CS9GEN_BENCH_STAGE"
	childRows = "CS9GEN_BENCH_ROWS"
)

// measureMemory compares the peak of the runner's memory, in a process of its
// own, while it stages 10 million rows with that for 1 million.
func measureMemory(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	few, many := l.cfg.data(1_000_000, random), l.cfg.data(10_000_000, random)
	base, err := l.base(ctx)
	if err != nil {
		return nil, err
	}
	var pieces []piece
	for _, d := range []dataset{few, many} {
		pieces = append(pieces, l.piece(d.name(), l.childJob(base, d)))
	}
	s, err := l.interleave(ctx, l.cfg.repeats, pieces)
	if err != nil {
		return nil, err
	}
	peak := func(d dataset) figures.Series {
		return s.series(d.name(), fmt.Sprintf("staging %s rows", thousands(d.rows)), part("peak"))
	}
	return []figures.Benchmark{{
		ID: "B10", Measured: "peak memory of the runner staging 10 million rows", Against: "1 million",
		Figures: []figures.Figure{figures.NewFigure("peak memory", "MiB", peak(many), peak(few), 1.05)},
		Notes:   []string{"VmHWM of a process of its own that stages rows from an iterator, at its end."},
	}}, nil
}

// childJob stages a dataset in a process of its own.
func (l *lab) childJob(template string, d dataset) job {
	var peak float64
	return job{
		template: template,
		work: func(ctx context.Context, _ *pgx.Conn, database string) error {
			child := exec.CommandContext(ctx, os.Args[0]) //nolint:gosec // it is this program
			child.Env = append(os.Environ(), childURL+"="+l.server.URL(database), childRows+"="+strconv.Itoa(d.rows))
			out, err := child.CombinedOutput()
			if err != nil {
				return fmt.Errorf("staging in a process of its own: %w\n%s", err, out)
			}
			match := regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`).FindSubmatch(out)
			if match == nil {
				return fmt.Errorf("the process told no peak of memory:\n%s", out)
			}
			kib, err := strconv.Atoi(string(match[1]))
			peak = float64(kib) / 1024
			return err //nolint:wrapcheck // digits only
		},
		parts: func(context.Context, *pgx.Conn) (map[string]float64, error) {
			return map[string]float64{"peak": peak}, nil
		},
		check: func(ctx context.Context, conn *pgx.Conn) error {
			staged, err := stagedName(ctx, conn)
			if err != nil {
				return err
			}
			return holds(ctx, conn, staged, d)
		},
	}
}

// stageAsChild is the process of its own: it reports whether this is one.
func stageAsChild(ctx context.Context) (bool, error) {
	url := os.Getenv(childURL)
	if url == "" {
		return false, nil
	}
	rows, err := strconv.Atoi(os.Getenv(childRows))
	if err != nil {
		return true, fmt.Errorf("%s: %w", childRows, err)
	}
	err = withRunner(ctx, url, 0, func(r *runner.Runner) error {
		var staged time.Duration
		task := rebuild(counts, dataset{rows: rows, order: random}, &staged)
		task.After = func(context.Context, runner.Run, runner.Handles) error { return errStaged }
		if _, err := task.Run(ctx, r, runner.RunKey("new")); !errors.Is(err, errStaged) {
			return fmt.Errorf("stage: %w", err)
		}
		return nil
	})
	if err != nil {
		return true, err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return true, fmt.Errorf("read the peak of memory: %w", err)
	}
	fmt.Println(string(status))
	return true, nil
}
