package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// byHand is the live table as someone would make it who does not use cs9gen.
const byHand = "CREATE TABLE anon.by_hand (day integer, location text, n integer NOT NULL, rate double precision, status text, " +
	"PRIMARY KEY (day, location))"

// measureInsert compares inserts of another program into a live table of cs9gen
// with those into the same table made by hand. The difference looked for is
// small, so that many short pieces are measured.
func measureInsert(ctx context.Context, l *lab) (_ []figures.Benchmark, err error) {
	repeats := 12 * l.cfg.repeats
	base, err := l.base(ctx)
	if err != nil {
		return nil, err
	}
	database, drop, err := l.clone(ctx, base)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	var s samples
	err = l.with(ctx, database, func(conn *pgx.Conn) error {
		if err := execute(ctx, conn, byHand); err != nil {
			return err
		}
		size := l.cfg.scaled(10_000)
		all := dataset{rows: repeats * size, order: random, seed: l.cfg.seed}
		s, err = l.interleave(ctx, repeats, []piece{
			{"live table", l.inserts(conn, counts, all, size)},
			{"made by hand", l.inserts(conn, "anon.by_hand", all, size)},
		})
		return errors.Join(err, holds(ctx, conn, counts, all), holds(ctx, conn, "anon.by_hand", all))
	})
	if err != nil {
		return nil, err
	}
	return []figures.Benchmark{{
		ID: "B11", Measured: "INSERT by another program into a live table", Against: "the same table made by hand", Repeats: repeats,
		Figures: []figures.Figure{figures.NewFigure("time", "s", s.series("live table", "`INSERT` into a live table", seconds),
			s.series("made by hand", "into the same table made by hand", seconds), 1.03)},
		Notes: []string{fmt.Sprintf("Rounds of %s single-row INSERTs, prepared, in one transaction.", thousands(l.cfg.scaled(10_000)))},
	}}, nil
}

// inserts returns a piece that inserts the next rows of a dataset, each by a
// statement of its own.
func (l *lab) inserts(conn *pgx.Conn, table string, all dataset, rows int) func(context.Context) (sample, error) {
	statement := "INSERT INTO " + table + " (day, location, n, rate, status) VALUES ($1, $2, $3, $4, $5)"
	at, from := all.permutation(), 0
	return func(ctx context.Context) (sample, error) {
		var batch []row
		for i := from; i < from+rows; i++ {
			batch = append(batch, all.row(at(i)))
		}
		from += rows
		return l.timed(ctx, func() error {
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { //nolint:wrapcheck // the statement is in the error
				for r := range slices.Values(batch) {
					if _, err := tx.Exec(ctx, statement, r.Day, r.Location, r.N, r.Rate, r.Status); err != nil {
						return fmt.Errorf("%s: %w", statement, err)
					}
				}
				return nil
			})
		})
	}
}
