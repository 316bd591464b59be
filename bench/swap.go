package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// measureSwap compares the switch of a publish by swap of big tables with that
// of a small one, and tells how long a reader waited meanwhile.
func measureSwap(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	var data []dataset
	var pieces []piece
	for _, n := range []int{100_000, 1_000_000, 3_000_000, 10_000_000} {
		d := l.cfg.data(n, random)
		template, err := l.ready(ctx, swapped, d, &d)
		if err != nil {
			return nil, err
		}
		data = append(data, d)
		pieces = append(pieces, l.piece(d.name(), l.swapJob(template, d)))
	}
	s, err := l.interleave(ctx, l.cfg.repeats, pieces)
	if err != nil {
		return nil, err
	}
	of := func(d dataset, what string, quantity func(sample) float64) figures.Series {
		return s.series(d.name(), fmt.Sprintf("%s, %s rows", what, thousands(d.rows)), quantity)
	}
	b := figures.Benchmark{
		ID: "B5", Measured: "the switch of a publish by swap", Against: "itself at 100 thousand rows",
		Notes: []string{"The switch is the step apply, as cs9.publish_step tells it. The reader asks for one row by its key, again and again; the longest of its questions during the publish is told. As many rows were live before."},
	}
	for _, d := range data[1:] {
		b.Figures = append(b.Figures, figures.NewFigure("time", "ms", of(d, "switch", part("apply")), of(data[0], "switch", part("apply")), 1.5))
	}
	for _, d := range data {
		b.Figures = append(b.Figures, figures.NewFigure("time", "ms", of(d, "longest wait of a reader", part("wait")), figures.Series{}, 0))
	}
	return []figures.Benchmark{b}, nil
}

// swapJob publishes by swap while another session reads.
func (l *lab) swapJob(template string, d dataset) job {
	var wait time.Duration
	return job{
		template: template,
		work: func(ctx context.Context, conn *pgx.Conn, database string) error {
			stop, err := l.read(ctx, database, d)
			if err != nil {
				return err
			}
			err = l.publish(ctx, conn, database, 1)
			var read error
			wait, read = stop()
			return errors.Join(err, read)
		},
		parts: func(ctx context.Context, conn *pgx.Conn) (map[string]float64, error) {
			var apply float64
			err := conn.QueryRow(ctx, "SELECT 1000 * extract(epoch FROM finished_at - began_at)::float8 FROM cs9.publish_step WHERE kind = 'apply' ORDER BY run_id DESC LIMIT 1").Scan(&apply)
			if err != nil {
				return nil, fmt.Errorf("read how long the switch took: %w", err)
			}
			return map[string]float64{"apply": apply, "wait": float64(wait.Microseconds()) / 1000}, nil
		},
		check: func(ctx context.Context, conn *pgx.Conn) error { return holds(ctx, conn, swapped, d) },
	}
}

// read begins to read single rows, again and again, in a session of its own.
// Each must be there. stop ends that, and returns the longest time that one took.
func (l *lab) read(ctx context.Context, database string, d dataset) (stop func() (time.Duration, error), err error) {
	conn, err := pgx.Connect(ctx, l.server.URL(database))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	one := func(i int) (time.Duration, error) {
		want := d.row(i % d.rows)
		began := time.Now()
		var n int32
		err := conn.QueryRow(ctx, "SELECT n FROM "+swapped+" WHERE day = $1 AND location = $2", want.Day, want.Location).Scan(&n)
		if err == nil && n != want.N {
			err = fmt.Errorf("n is %d, and should be %d", n, want.N)
		}
		if err != nil {
			return 0, fmt.Errorf("read row %d: %w", i%d.rows, err)
		}
		return time.Since(began), nil
	}
	if _, err := one(0); err != nil { // prepares the statement
		return nil, errors.Join(err, conn.Close(ctx))
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	var longest time.Duration
	var failed error
	wg.Go(func() {
		for i := 0; failed == nil; i += 7919 {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond): // a reader that leaves a core to the publish
			}
			var took time.Duration
			took, failed = one(i)
			longest = max(longest, took)
		}
	})
	return func() (time.Duration, error) {
		close(done)
		wg.Wait()
		return longest, errors.Join(failed, conn.Close(context.WithoutCancel(ctx)))
	}, nil
}
