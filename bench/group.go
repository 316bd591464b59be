package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// group is benchmarks that are measured together, because they share pieces.
type group struct {
	name string
	ids  []string
	run  func(ctx context.Context, l *lab) ([]figures.Benchmark, error)
}

// groups are all benchmarks, the most important ones first.
var groups = []group{
	{"publish", []string{"B1", "B2", "B6", "B8"}, measurePublish},
	{"rebuild", []string{"B3", "B4", "B12"}, measureRebuild},
	{"plans", []string{"B7"}, measurePlans},
	{"insert", []string{"B11"}, measureInsert},
	{"swap", []string{"B5"}, measureSwap},
	{"growth", []string{"B9"}, measureGrowth},
	{"memory", []string{"B10"}, measureMemory},
	{"growth of runs", []string{"B13"}, measureGrowthOfRuns},
}

func ids() []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.ids...)
	}
	return out
}

// piece is one side of a comparison.
type piece struct {
	name string
	run  func(ctx context.Context) (sample, error)
}

// samples are what the pieces took, by name, in order of the rounds.
type samples map[string][]sample

// interleave measures the pieces in rounds: A B C, A B C, ...
func (l *lab) interleave(ctx context.Context, repeats int, pieces []piece) (samples, error) {
	out := samples{}
	for round := 1; round <= repeats; round++ {
		for _, p := range pieces {
			began := time.Now()
			s, err := p.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", p.name, round, err)
			}
			out[p.name] = append(out[p.name], s)
			l.cfg.say("round %d of %d: %-32s %8.3f s %8.1f MB WAL (%.1f s with its set-up)",
				round, repeats, p.name, s.seconds, s.wal, time.Since(began).Seconds())
		}
	}
	return out, nil
}

// job is a piece that begins from a clone of a template.
type job struct {
	template string
	prepare  func(ctx context.Context, conn *pgx.Conn) error                                 // not timed
	work     func(ctx context.Context, conn *pgx.Conn, database string) error                // timed
	check    func(ctx context.Context, conn *pgx.Conn) error                                 // that the work was done
	parts    func(ctx context.Context, conn *pgx.Conn) (parts map[string]float64, err error) // more that was measured
}

func (l *lab) do(ctx context.Context, j job) (s sample, err error) {
	database, drop, err := l.clone(ctx, j.template)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	err = l.with(ctx, database, func(conn *pgx.Conn) error {
		if j.prepare != nil {
			if err := j.prepare(ctx, conn); err != nil {
				return err
			}
		}
		var err error
		if s, err = l.timed(ctx, func() error { return j.work(ctx, conn, database) }); err != nil {
			return err
		}
		if j.parts != nil {
			if s.parts, err = j.parts(ctx, conn); err != nil {
				return err
			}
		}
		return j.check(ctx, conn)
	})
	return s, err
}

func (l *lab) piece(name string, j job) piece {
	return piece{name, func(ctx context.Context) (sample, error) { return l.do(ctx, j) }}
}

// The quantities of a sample.
func seconds(s sample) float64 { return s.seconds }
func wal(s sample) float64     { return s.wal }

func part(name string) func(sample) float64 {
	return func(s sample) float64 { return s.parts[name] }
}

// series is one quantity of a piece.
func (s samples) series(piece, label string, quantity func(sample) float64) figures.Series {
	var values []float64
	for _, one := range s[piece] {
		values = append(values, quantity(one))
	}
	return figures.NewSeries(label, values)
}
