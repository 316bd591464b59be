// Command bench measures cs9gen side by side with what would be used instead,
// on a PostgreSQL of its own, and writes bench/results.json, bench/RESULTS.md,
// docs/bench.png and the table of the README. Type make bench.
//
// It is a module of its own, so that what it compares with does not come into
// the modules of cs9gen.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cs9gen/cs9gen/internal/figures"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if child, err := stageAsChild(ctx); child {
		return err
	}
	root := ".."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	cfg, err := configure(root, os.Stderr)
	if err != nil {
		return err
	}
	return measure(ctx, cfg, groups)
}

// measure runs the groups of which something is wanted, and writes what each
// measured when it ends. A group that fails does not keep the others from being
// measured.
func measure(ctx context.Context, cfg config, groups []group) (err error) {
	l, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	environment, err := l.environment(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, g := range groups {
		if !cfg.wants(g.ids...) {
			continue
		}
		began := time.Now()
		cfg.say("\n%s (%s)", g.name, g.ids)
		benchmarks, err := g.run(ctx, l)
		if err == nil {
			cfg.say("%s took %s", g.name, time.Since(began).Round(time.Second))
			err = l.record(benchmarks, environment)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", g.name, err))
			cfg.say("failed: %v", err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// record writes what was measured.
func (l *lab) record(benchmarks []figures.Benchmark, environment figures.Environment) error {
	path := filepath.Join(l.cfg.root, "bench", "results.json")
	results, err := figures.Read(path)
	if err != nil {
		return err
	}
	for _, b := range benchmarks {
		if !l.cfg.wants(b.ID) {
			continue
		}
		b.Rows, b.Environment = l.cfg.rows, environment
		b.Ended = time.Now().UTC().Format(time.RFC3339)
		if b.Repeats == 0 {
			b.Repeats = l.cfg.repeats
		}
		results.Put(b)
		for _, f := range b.Figures {
			l.cfg.say("%s", line(b, f))
		}
	}
	if err := results.Write(path); err != nil {
		return err
	}
	return render(l.cfg.root, results)
}
