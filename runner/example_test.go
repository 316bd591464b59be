package runner_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"time"

	sq "github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/runner"
)

// week is the argset of the examples: what one plan is about.
type week struct {
	Year int
	Week int
}

// weekRow is a row of anon.anon_rebuild_counts.
type weekRow struct {
	Week   int
	Region string
	N      int
}

func weeksUpTo(today time.Time) []week {
	year, last := today.ISOWeek()
	weeks := make([]week, last)
	for i := range weeks {
		weeks[i] = week{Year: year, Week: i + 1}
	}
	return weeks
}

func readWeek(context.Context, week) ([]weekRow, error) { return nil, nil }

// A task that rebuilds its table: its first analysis empties it, and every plan
// adds the rows of one week. Readers see the old table until all weeks are done.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://localhost/db")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	r, err := runner.New(pool, nil)
	if err != nil {
		log.Fatal(err)
	}

	task := runner.Task[week, []weekRow]{
		Name:   "rebuild_counts",
		Tables: runner.Tables{"counts": "anon.anon_rebuild_counts"},
		Plans: func(_ context.Context, run runner.Run) ([]week, error) {
			return weeksUpTo(run.Today()), nil // not time.Now: a retry must come to the same weeks
		},
		Select: func(ctx context.Context, a runner.Args[week], _ runner.Handles) ([]weekRow, error) {
			return readWeek(ctx, a.Value)
		},
		Action: func(ctx context.Context, rows []weekRow, a runner.Args[week], t runner.Handles) error {
			if a.FirstAnalysis {
				if err := t["counts"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			return t["counts"].Insert(ctx, runner.Rows(rows))
		},
		Cores: 4,
	}
	result, err := task.Run(ctx, r, runner.RunKey("week 40"))
	switch {
	case errors.Is(err, runner.ErrRunAlive):
		log.Print("another process runs it") // and this one is not needed
	case err != nil:
		log.Fatal(err) // says what was kept; run again with the same key
	default:
		fmt.Println(result)
	}
}

// Returns instead of Action: the rows of a plan are written in one statement.
func ExampleTask_returns() {
	_ = runner.Task[week, any]{
		Name:   "rebuild_counts",
		Tables: runner.Tables{"counts": "anon.anon_rebuild_counts"},
		Plans: func(_ context.Context, run runner.Run) ([]week, error) {
			return weeksUpTo(run.Today()), nil
		},
		Returns: func(ctx context.Context, _ any, a runner.Args[week], _ runner.Handles) (runner.Source, error) {
			rows, err := readWeek(ctx, a.Value)
			return runner.Rows(rows), err
		},
		ReturnTo: "counts",
		ReturnAs: runner.Upsert,
	}
}

// An argset for each region and week.
func ExampleExpandList() {
	type args struct {
		Region string
		Week   int
	}
	list, err := runner.ExpandList[args](
		runner.Over("Region", "north", "south"),
		runner.Over("Week", 39, 40),
	)
	fmt.Println(list, err)
	// Output: [{north 39} {north 40} {south 39} {south 40}] <nil>
}

// Rows that are made while they are written: the memory of the write stays the
// same however many there are.
func ExampleSeq() {
	generate := func() iter.Seq2[weekRow, error] {
		return func(yield func(weekRow, error) bool) {
			for n := range 10_000_000 {
				if !yield(weekRow{Week: 40, Region: fmt.Sprint(n), N: n}, nil) {
					return
				}
			}
		}
	}
	_ = func(ctx context.Context, t runner.Handles) error {
		return t["counts"].Insert(ctx, runner.Seq(generate()))
	}
}

// The rows of one week and region are replaced. The condition is a text with
// arguments, a map, or one of Squirrel's expressions.
func ExampleTable_DropRowsWhere() {
	_ = func(ctx context.Context, t *runner.Table, rows []weekRow) error {
		if err := t.DropRowsWhere(ctx, "week = ? AND region = ANY (?)", 40, []string{"north", "south"}); err != nil {
			return err
		}
		if err := t.DropRowsWhere(ctx, sq.Or{sq.Lt{"week": 10}, sq.Eq{"region": nil}}); err != nil {
			return err
		}
		return t.Insert(ctx, runner.Rows(rows))
	}
}
