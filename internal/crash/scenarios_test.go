package crash_test

import (
	"context"
	"strconv"
	"strings"

	"github.com/cs9gen/cs9gen/runner"
)

// scenario is a task, and the same work in plain SQL.
type scenario struct {
	name   string
	cores  int
	plans  int
	tables runner.Tables
	// plan does one plan. shift makes the rows of each run key different.
	plan func(ctx context.Context, shift, plan int, t runner.Handles) error
	// plain does the work of all plans; @shift and @plans stand for the numbers.
	plain string
	// movers is how many sessions move the rows of a publish, 0 for one.
	movers int
}

const (
	rowsPerPlan = 12
	batchRows   = 7
)

// Before each run the tables hold the rows 1 to 20. A run adds rowsPerPlan rows
// a plan from 101 on, and one of its own that no run of another key takes away.
const (
	plainRows = `SELECT p * 100 + i, CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END, @shift * 10000 + p * 100 + i
		FROM generate_series(1, @plans) AS p, generate_series(1, 12) AS i`
	plainOwn = `SELECT 1000 + @shift, 'north', @shift`
)

var one = runner.Tables{"one": "crash.one"}

var scenarios = append(batched, otherModes...)

var batched = []scenario{
	{
		name: "drop all", plans: 3, tables: one,
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 1 {
				return t["one"].DropAllRowsAndThenInsert(ctx, rows(shift, plan))
			}
			return t["one"].Insert(ctx, rows(shift, plan))
		},
		plain: "TRUNCATE crash.one; INSERT INTO crash.one " + plainRows,
	},
	{
		name: "4 parallel plans", cores: 4, plans: 6, tables: one,
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 1 {
				if err := t["one"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			return t["one"].Insert(ctx, rows(shift, plan))
		},
		plain: "TRUNCATE crash.one; INSERT INTO crash.one " + plainRows,
	},
	{
		name: "partitioned", plans: 3, tables: runner.Tables{"parts": "crash.parts"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 1 {
				if err := t["parts"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			return t["parts"].Insert(ctx, rows(shift, plan))
		},
		plain: "TRUNCATE crash.parts; INSERT INTO crash.parts " + plainRows,
	},
	{
		name: "two tables", plans: 3, tables: runner.Tables{"one": "crash.one", "other": "crash.other"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 1 {
				if err := t["one"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			if err := t["one"].Insert(ctx, rows(shift, plan)); err != nil {
				return err
			}
			return t["other"].Upsert(ctx, rows(shift, plan))
		},
		plain: `TRUNCATE crash.one; INSERT INTO crash.one ` + plainRows + `;
			INSERT INTO crash.other ` + plainRows + upsert,
	},
	{
		name: "delete where", plans: 3, tables: one,
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			switch plan {
			case 1:
				if err := t["one"].DropRowsWhere(ctx, "id <= 10 OR id BETWEEN 101 AND 900"); err != nil {
					return err
				}
			case 2:
				if err := t["one"].DropRowsWhere(ctx, "id = ?", 15); err != nil {
					return err
				}
			case 3:
				if err := t["one"].Insert(ctx, own(shift)); err != nil {
					return err
				}
			}
			return t["one"].Insert(ctx, rows(shift, plan))
		},
		plain: `DELETE FROM crash.one WHERE id <= 10 OR id BETWEEN 101 AND 900 OR id = 15;
			INSERT INTO crash.one ` + plainRows + "; INSERT INTO crash.one " + plainOwn,
	},
	{
		name: "delete keep", plans: 3, tables: one,
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			switch plan {
			case 1:
				if err := t["one"].KeepRowsWhere(ctx, "id BETWEEN 11 AND 20 OR id > 900"); err != nil {
					return err
				}
			case 2:
				if err := t["one"].KeepRowsWhere(ctx, "id <> ?", 15); err != nil {
					return err
				}
			case 3:
				if err := t["one"].Insert(ctx, own(shift)); err != nil {
					return err
				}
			}
			return t["one"].Insert(ctx, rows(shift, plan))
		},
		plain: `DELETE FROM crash.one WHERE NOT (id BETWEEN 11 AND 20 OR id > 900) OR id = 15;
			INSERT INTO crash.one ` + plainRows + "; INSERT INTO crash.one " + plainOwn,
	},
	{
		name: "upsert", plans: 3, tables: one,
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 2 {
				if err := t["one"].Upsert(ctx, rowsFrom(shift, 5)); err != nil {
					return err
				}
			}
			if plan == 3 {
				if err := t["one"].Insert(ctx, own(shift)); err != nil {
					return err
				}
			}
			return t["one"].Upsert(ctx, rows(shift, plan))
		},
		plain: `INSERT INTO crash.one ` + plainRows + upsert + "; INSERT INTO crash.one " + plainOwn + `;
			INSERT INTO crash.one SELECT 4 + i, CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END, @shift * 10000 + 4 + i
			FROM generate_series(1, 12) AS i` + upsert,
	},
}

const upsert = " ON CONFLICT (id) DO UPDATE SET region = excluded.region, n = excluded.n"

var columns = []string{"id", "region", "n"}

// rows are the rows of one plan.
func rows(shift, plan int) runner.Source { return rowsFrom(shift, plan*100+1) }

func rowsFrom(shift, first int) runner.Source { return runner.Values(columns, rowList(shift, first)) }

func rowList(shift, first int) [][]any {
	list := make([][]any, rowsPerPlan)
	for i := range list {
		region := "north"
		if (i+1)%2 == 1 {
			region = "south"
		}
		list[i] = []any{first + i, region, shift*10000 + first + i}
	}
	return list
}

func own(shift int) runner.Source {
	return runner.Values(columns, [][]any{{1000 + shift, "north", shift}})
}

// The two run keys of the tests, and their shifts.
var shifts = map[string]int{"first": 1, "second": 2}

// plainSQL is what a run of the scenario with a key does, in plain SQL.
func (s *scenario) plainSQL(key string) string {
	return strings.NewReplacer("@shift", strconv.Itoa(shifts[key]), "@plans", strconv.Itoa(s.plans)).Replace(s.plain)
}

// task is the scenario's task for a run key.
func (s *scenario) task(key string) runner.Task[int, any] {
	return runner.Task[int, any]{
		Name: "crash", Tables: s.tables, Cores: s.cores,
		Plans: func(context.Context, runner.Run) ([]int, error) {
			list := make([]int, s.plans)
			for i := range list {
				list[i] = i + 1
			}
			return list, nil
		},
		Action: func(ctx context.Context, _ any, a runner.Args[int], t runner.Handles) error {
			return s.plan(ctx, shifts[key], a.IndexPlan, t)
		},
	}
}

func scenarioOf(name string) *scenario {
	for i := range scenarios {
		if scenarios[i].name == name {
			return &scenarios[i]
		}
	}
	return nil
}
