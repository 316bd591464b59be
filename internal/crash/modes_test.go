package crash_test

import (
	"context"
	"strings"

	"github.com/cs9gen/cs9gen/runner"
)

// otherModes are scenarios of what is not published in batches by one session.
var otherModes = []scenario{
	{
		name: "atomic rebuild", plans: 3, tables: runner.Tables{"exact": "crash.exact"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 1 {
				if err := t["exact"].DropAllRows(ctx); err != nil {
					return err
				}
				if err := t["exact"].Insert(ctx, permuted(shift)); err != nil {
					return err
				}
			}
			return t["exact"].Insert(ctx, rows(shift, plan))
		},
		plain: "TRUNCATE crash.exact; INSERT INTO crash.exact " + plainRows + "; INSERT INTO crash.exact " + plainPermuted,
	},
	{
		name: "atomic delete where", plans: 3, tables: runner.Tables{"kept": "crash.kept"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			switch plan {
			case 1:
				if err := t["kept"].DropRowsWhere(ctx, "id <= 10 OR id BETWEEN 101 AND 900"); err != nil {
					return err
				}
			case 2:
				if err := t["kept"].DropRowsWhere(ctx, "id = ?", 15); err != nil {
					return err
				}
			case 3:
				if err := t["kept"].Insert(ctx, own(shift)); err != nil {
					return err
				}
			}
			return t["kept"].Insert(ctx, rows(shift, plan))
		},
		plain: `DELETE FROM crash.kept WHERE id <= 10 OR id BETWEEN 101 AND 900 OR id = 15;
			INSERT INTO crash.kept ` + plainRows + "; INSERT INTO crash.kept " + plainOwn,
	},
	{
		name: "atomic upsert", plans: 2, tables: runner.Tables{"kept": "crash.kept"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 2 {
				if err := t["kept"].Upsert(ctx, rowsFrom(shift, 5)); err != nil {
					return err
				}
				if err := t["kept"].Insert(ctx, own(shift)); err != nil {
					return err
				}
			}
			return t["kept"].Upsert(ctx, rows(shift, plan))
		},
		plain: "INSERT INTO crash.kept " + plainRows + upsert + "; INSERT INTO crash.kept " + plainOwn + `;
			INSERT INTO crash.kept SELECT 4 + i, CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END, @shift * 10000 + 4 + i
			FROM generate_series(1, 12) AS i` + upsert,
	},
	{
		name: "swap", plans: 2, tables: runner.Tables{"whole": "crash.whole"},
		plan:  rebuild("whole"),
		plain: "TRUNCATE crash.whole; INSERT INTO crash.whole " + plainRows,
	},
	{
		name: "swap of partitions", plans: 2, tables: runner.Tables{"split": "crash.split"},
		plan:  rebuild("split"),
		plain: "TRUNCATE crash.split; INSERT INTO crash.split " + plainRows,
	},
	{
		name: "several modes", plans: 2,
		tables: runner.Tables{"one": "crash.one", "exact": "crash.exact", "whole": "crash.whole", "split": "crash.split"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			for _, name := range []string{"one", "exact", "whole"} {
				if err := rebuild(name)(ctx, shift, plan, t); err != nil {
					return err
				}
			}
			if plan == 1 { // south stays as it is
				return t["split"].DropRowsWhere(ctx, "region = 'north'")
			}
			return t["split"].Insert(ctx, own(shift))
		},
		plain: "TRUNCATE crash.one, crash.exact, crash.whole; INSERT INTO crash.one " + plainRows + "; INSERT INTO crash.exact " + plainRows +
			"; INSERT INTO crash.whole " + plainRows + "; DELETE FROM crash.split WHERE region = 'north'; INSERT INTO crash.split " + plainOwn,
	},
	{
		name: "2 movers", movers: 2, plans: 3, tables: runner.Tables{"wide": "crash.wide"},
		plan: func(ctx context.Context, shift, plan int, t runner.Handles) error {
			if plan == 1 {
				if err := t["wide"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			return t["wide"].Insert(ctx, wide(shift, plan))
		},
		plain: "TRUNCATE crash.wide; INSERT INTO crash.wide SELECT p.id, repeat(p.region, 200), p.n FROM (" + plainRows + ") AS p (id, region, n)",
	},
}

// rebuild empties a table and fills it.
func rebuild(name string) func(ctx context.Context, shift, plan int, t runner.Handles) error {
	return func(ctx context.Context, shift, plan int, t runner.Handles) error {
		if plan == 1 {
			if err := t[name].DropAllRows(ctx); err != nil {
				return err
			}
		}
		return t[name].Insert(ctx, rows(shift, plan))
	}
}

// The rows 1 to 12, whose values of n have changed places.
const plainPermuted = "SELECT i, 'moved', (i + @shift) % 20 + 1 FROM generate_series(1, 12) AS i"

func permuted(shift int) runner.Source {
	list := make([][]any, rowsPerPlan)
	for i := range list {
		list[i] = []any{i + 1, "moved", (i+1+shift)%20 + 1}
	}
	return runner.Values(columns, list)
}

// wide are the rows of one plan, which take some pages: a range of pages is what
// a mover moves.
func wide(shift, plan int) runner.Source {
	list := rowList(shift, plan*100+1)
	for _, row := range list {
		row[1] = strings.Repeat(row[1].(string), 200)
	}
	return runner.Values(columns, list)
}

// slowBatches makes each batch of crash.wide last a while, so that a mover that
// joins finds some left.
const slowBatches = `
	CREATE FUNCTION crash.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.03); RETURN NULL; END';
	CREATE TRIGGER slow BEFORE INSERT ON crash.wide EXECUTE FUNCTION crash.slow();`
