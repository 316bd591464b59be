package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// measurePublish compares publishes of rows that are staged with other ways to
// bring the same rows, from a table, into the same live table. Unless said
// otherwise the live table held as many rows before, and the rows are staged in
// random order.
func measurePublish(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	live := l.cfg.data(fullRows, random)
	var pieces []piece
	add := func(name string, j job, err error) error {
		pieces = append(pieces, l.piece(name, j))
		return err
	}
	same, err := l.ready(ctx, counts, live, &live)
	if err != nil {
		return nil, err
	}
	var errs []error
	if l.cfg.wants("B1") {
		errs = append(errs, add("insert", insertJob(same, live, ""), nil))
	}
	if l.cfg.wants("B1", "B2", "B8") {
		errs = append(errs, add("publish", l.publishJob(same, live, "batched", 1), nil))
	}
	if l.cfg.wants("B2") {
		j, err := l.partmanJob(ctx, live)
		errs = append(errs, add("partman", j, err))
	}
	if l.cfg.wants("B6") {
		errs = append(errs,
			add("insert sorted", insertJob(same, live, "ORDER BY day, location"), nil),
			add("atomic, nothing", l.publishJob(same, live, "atomic", 1), nil))
		for _, c := range []change{last, scattered} {
			changed := live
			changed.changed = c
			template, err := l.ready(ctx, counts, changed, &live)
			errs = append(errs, add("atomic, "+string(c), l.publishJob(template, changed, "atomic", 1), err))
		}
	}
	if l.cfg.wants("B2", "B8") {
		errs = append(errs, add("publish, 2 movers", l.publishJob(same, live, "batched", 2), nil))
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	s, err := l.interleave(ctx, l.cfg.repeats, pieces)
	if err != nil {
		return nil, err
	}
	return l.publishFigures(s), nil
}

func (l *lab) publishFigures(s samples) []figures.Benchmark {
	const sortedInsert = "one sorted `INSERT … SELECT` of everything"
	peer := "pg_partman's `partition_data_proc`"
	if !l.partman {
		peer = "batches of `DELETE … RETURNING` into `INSERT`"
	}
	compare := func(name, unit, measured, label, against, other string, quantity func(sample) float64, reach float64) figures.Figure {
		return figures.NewFigure(name, unit, s.series(measured, label, quantity), s.series(against, other, quantity), reach)
	}
	atomic := func(measured, label string, time, log float64) []figures.Figure {
		return []figures.Figure{
			compare("time", "s", measured, label, "insert sorted", sortedInsert, seconds, time),
			compare("WAL", "MB", measured, label, "insert sorted", sortedInsert, wal, log),
		}
	}
	const batched = "publish, batched"
	return []figures.Benchmark{
		{
			ID: "B1", Measured: batched, Against: "one unsorted INSERT … SELECT into the emptied table",
			Figures: []figures.Figure{
				compare("time", "s", "publish", batched, "insert", "one unsorted `INSERT … SELECT`", seconds, 0.75),
				compare("WAL", "MB", "publish", batched, "insert", "one unsorted `INSERT … SELECT`", wal, 0),
			},
			Notes: []string{"The publish is the whole CALL: checks, TRUNCATE of the old rows, moves, ANALYZE, and the drop of what was staged. The INSERT reads the same staged table, and finds the live table empty."},
		},
		{
			ID: "B2", Measured: batched, Against: "pg_partman's partition_data_proc, 200,000 rows a commit",
			Figures: []figures.Figure{
				compare("time", "s", "publish", batched, "partman", peer, seconds, 0.45),
				compare("WAL", "MB", "publish", batched, "partman", peer, wal, 0.6),
				compare("time", "s", "publish, 2 movers", "publish, batched, 2 movers", "partman", peer, seconds, 0.45),
			},
			Notes: []string{
				l.partmanNote(),
				"What limits one mover: the rows' INSERT into a table with its key. Of the WAL 48 % are its records of the heap, 40 % those of the leaf pages and 11 % page splits; nothing else is written to speak of. " +
					"Moves in the order of the key, through the index of the staged rows, were tried: 0.91 of the WAL and 1.3 of the time, because each row is then a page of its own to read.",
			},
		},
		{
			ID: "B6", Measured: "publish, atomic", Against: "one sorted INSERT … SELECT of everything",
			Figures: slices.Concat(
				atomic("atomic, nothing", "publish, atomic, nothing changed", 0.45, 0.05),
				atomic("atomic, last", "publish, atomic, last 1 % changed", 0.5, 0.1),
				atomic("atomic, scattered", "publish, atomic, 1 % changed everywhere", 0.5, 0.1)),
			Notes: []string{"The INSERT has a work_mem of 64MB, and finds the live table empty. 1 % changed: another value of n, in the last hundredth of the rows by key, or in every hundredth row. The live table lies in the order of its key. After the CHECKPOINT the first change of each page writes the whole page into the WAL; the changes everywhere touch nearly all pages, so that their WAL is what PostgreSQL writes for any update of them."},
		},
		{
			ID: "B8", Measured: "publish, batched, 2 movers", Against: "publish, batched, 1 mover",
			Figures: []figures.Figure{
				compare("time", "s", "publish, 2 movers", "publish, batched, 2 movers", "publish", "1 mover", seconds, 0.65),
			},
		},
	}
}

// insertJob inserts what is staged into the emptied table, in one statement.
func insertJob(template string, d dataset, orderBy string) job {
	var statement string
	return job{
		template: template,
		prepare: func(ctx context.Context, conn *pgx.Conn) error {
			staged, err := stagedName(ctx, conn)
			if err != nil {
				return err
			}
			const columns = "day, location, n, rate, status"
			statement = fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s %s", counts, columns, columns, staged, orderBy)
			return execute(ctx, conn, "TRUNCATE "+counts, "SET work_mem = '64MB'")
		},
		work:  func(ctx context.Context, conn *pgx.Conn, _ string) error { return execute(ctx, conn, statement) },
		check: func(ctx context.Context, conn *pgx.Conn) error { return holds(ctx, conn, counts, d) },
	}
}

// publishJob publishes a run that is ready.
func (l *lab) publishJob(template string, d dataset, mode string, movers int) job {
	return job{
		template: template,
		prepare: func(ctx context.Context, conn *pgx.Conn) error {
			if mode == "batched" {
				return nil
			}
			return execute(ctx, conn, fmt.Sprintf("SELECT cs9.set_publish_mode('%s', 'new', '%s')", taskName, mode))
		},
		work: func(ctx context.Context, conn *pgx.Conn, database string) error {
			return l.publish(ctx, conn, database, movers)
		},
		check: func(ctx context.Context, conn *pgx.Conn) error { return holds(ctx, conn, counts, d) },
	}
}

// publish publishes the run, with one more session for each mover but the first.
func (l *lab) publish(ctx context.Context, conn *pgx.Conn, database string, movers int) error {
	// the others wait for a publish whose owner is there
	if err := execute(ctx, conn, "SELECT cs9.claim_run('"+taskName+"', 'new')"); err != nil {
		return err
	}
	var wg sync.WaitGroup
	joined := make([]error, movers-1)
	for i := range joined {
		wg.Go(func() {
			joined[i] = l.with(ctx, database, func(conn *pgx.Conn) error {
				return execute(ctx, conn, fmt.Sprintf("CALL cs9.join_publish('%s', 'new', %d)", taskName, l.cfg.batch()))
			})
		})
	}
	err := execute(ctx, conn, fmt.Sprintf("CALL cs9.publish('%s', 'new', %d, %d)", taskName, l.cfg.batch(), movers))
	wg.Wait()
	return errors.Join(append(joined, err)...)
}
