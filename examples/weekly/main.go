// Command weekly is an example of a program that embeds cs9gen's runner. It
// rebuilds a table of cases a week from a file of cases a day, one plan a week:
//
//	weekly [--database-url URL] CSV RUN_KEY
//
// Readers see the old table until the last week is done. Started again with the
// same run key after a failure it does only what is left.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/runner"
)

// week is the argset of a plan.
type week struct {
	Yrwk string `json:"yrwk"`
}

// cases is a row of the table: see tables.yaml.
type cases struct {
	Yrwk           string
	LocationCode   string
	Cases          int
	CasesPer100000 float64 `db:"cases_per_100000"`
}

func weekly(days map[string][]day) runner.Task[week, []day] {
	return runner.Task[week, []day]{
		Name:   "covid19_weekly",
		Tables: runner.Tables{"weekly": "anon.anon_covid19_weekly"},
		Plans: func(context.Context, runner.Run) (plans []week, err error) {
			for _, yrwk := range slices.Sorted(maps.Keys(days)) {
				plans = append(plans, week{yrwk})
			}
			return plans, nil
		},
		Select: func(_ context.Context, a runner.Args[week], _ runner.Handles) ([]day, error) {
			return days[a.Value.Yrwk], nil
		},
		Action: func(ctx context.Context, days []day, a runner.Args[week], t runner.Handles) error {
			if a.FirstAnalysis {
				if err := t["weekly"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			return t["weekly"].Insert(ctx, runner.Rows(sum(a.Value.Yrwk, days)))
		},
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("weekly", flag.ContinueOnError)
	url := flags.String("database-url", "", "the database; else DATABASE_URL, else the PG* variables")
	if err := flags.Parse(args); err != nil || flags.NArg() != 2 {
		return fmt.Errorf("%w: usage: weekly [--database-url URL] CSV RUN_KEY", runner.ErrBadArgument)
	}
	days, err := readDays(flags.Arg(0))
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, cmp.Or(*url, os.Getenv("DATABASE_URL")))
	if err != nil {
		return err
	}
	defer pool.Close()
	r, err := runner.New(pool, nil)
	if err != nil {
		return err
	}
	result, err := weekly(days).Run(ctx, r, runner.RunKey(flags.Arg(1)))
	if err != nil {
		return err
	}
	fmt.Println(result)
	return nil
}

// exitCode is as that of cs9gen.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, runner.ErrRunAlive):
		return 3
	case errors.Is(err, runner.ErrPublishStopped):
		return 4
	case errors.Is(err, runner.ErrBadArgument):
		return 2
	}
	return 1
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "weekly:", err)
	}
	os.Exit(exitCode(err))
}
