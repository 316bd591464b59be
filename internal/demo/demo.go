// Package demo shows what cs9gen promises on a table small enough to follow: a
// run that succeeds, one that fails, its retry, and a publish that is stopped
// half-way and resumed. At each step it looks at the table with a reader's eyes,
// and then checks what it saw against what was promised. It decides what is
// shown and claimed; package chart draws it, and package runner does the work.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options says where the demo works. The zero value is useful.
type Options struct {
	// Database is the database to work in, made by pgxpool.ParseConfig; its
	// schema anon_demo is made, and removed at the end. Defaults to a PostgreSQL
	// server of the demo's own.
	Database *pgxpool.Config
	// OutDir is the folder for the charts demo.png and demo.svg, made when
	// needed. Defaults to "demo-output".
	OutDir string
}

// Report is what the demo saw.
type Report struct {
	Steps    []Step    `json:"steps"`
	Attempts []Attempt `json:"attempts"`
	Claims   []Claim   `json:"claims"`
	Charts   []string  `json:"charts"`
}

// ErrClaim says that what the demo saw is not what cs9gen promises.
var ErrClaim = errors.New("a promise was not kept")

// Run plays the demo. The report is there when the error is nil; whether every
// claim holds is what [Report.Err] says.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.OutDir == "" {
		o.OutDir = "demo-output"
	}
	if err := os.MkdirAll(o.OutDir, 0o755); err != nil {
		return nil, fmt.Errorf("demo: make folder: %w", err)
	}
	report, err := play(ctx, o.Database)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	report.Charts = []string{filepath.Join(o.OutDir, "demo.png"), filepath.Join(o.OutDir, "demo.svg")}
	if err := report.chart().Write(report.Charts...); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return report, nil
}

func play(ctx context.Context, database *pgxpool.Config) (_ *Report, err error) {
	s, err := openStage(ctx, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	p := &player{stage: s}
	for _, scene := range []func(context.Context) error{p.success, p.failure, p.retry, p.stoppedPublish} {
		if err := scene(ctx); err != nil {
			return nil, err
		}
	}
	return &Report{Steps: p.steps, Attempts: p.attempts, Claims: check(p.steps, p.attempts)}, nil
}

// Err is nil when every claim holds; else it matches [ErrClaim] and says which
// do not.
func (r *Report) Err() error {
	var failed []string
	for _, c := range r.Claims {
		if !c.OK {
			failed = append(failed, fmt.Sprintf("%s: %s (%s)", c.Scenario, c.Text, c.Saw))
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("demo: %w: %s", ErrClaim, strings.Join(failed, "; "))
}
