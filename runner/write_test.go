package runner_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sq "github.com/Masterminds/squirrel"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// modes are the two ways in which a task can write.
var modes = map[string][]runner.Option{"staged": {runner.RunKey("k")}, "direct": nil}

// tableTask writes to one table, in one plan.
func tableTask(table string, write func(ctx context.Context, t *runner.Table) error) runner.Task[int, any] {
	task := stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error { return write(ctx, tables["t"]) })
	task.Tables = runner.Tables{"t": table}
	return task
}

func TestInsertMayLeaveOutColumnsWithADefault(t *testing.T) {
	for mode, opts := range modes {
		f := newFixture(t)
		f.mustRun(tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
			return t.Insert(ctx, runner.Values([]string{"region", "week"}, [][]any{{"a", 1}, {"b", int64(2)}}))
		}), opts...)
		f.wantCounts("1 a 0, 2 b 0")
		if t.Failed() {
			t.Fatal(mode)
		}
	}
}

func TestLossyValueStopsTheWrite(t *testing.T) {
	for mode, opts := range modes {
		f := newFixture(t)
		f.exec(oldRow)
		for _, value := range []any{3.7, math.NaN(), int64(1) << 40, uint64(math.MaxUint64)} {
			_, err := tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
				return t.DropAllRowsAndThenInsert(ctx, runner.Values([]string{"week", "region", "n"}, [][]any{{1, "a", 1}, {2, "b", value}}))
			}).Run(t.Context(), f.runner, opts...)
			f.wantIs(err, runner.ErrLossy)
			for _, part := range []string{"anon.counts", "row 2", "column n"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: the error does not name %s: %v", mode, part, err)
				}
			}
			f.wantCounts("0 old 7")
		}
	}
}

// Nothing is cleared for rows that did not arrive or have the wrong shape.
func TestRowsAreLookedAtBeforeTheTableIsCleared(t *testing.T) {
	type unknown struct {
		Week   int
		Region string
		Other  int
	}
	for mode, opts := range modes {
		f := newFixture(t)
		f.exec(oldRow)
		for name, c := range map[string]struct {
			rows runner.Source
			is   error
			says string
		}{
			"nil source":     {nil, runner.ErrNoRows, "no row source"},
			"nil iterator":   {runner.Seq[count](nil), runner.ErrNoRows, "nil"},
			"nil slice":      {runner.Rows([]count(nil)), runner.ErrNoRows, "nil slice"},
			"unknown column": {runner.Rows([]unknown{{}}), runner.ErrBadArgument, "no column other"},
			"no key":         {runner.Values([]string{"week", "n"}, [][]any{{1, 1}}), runner.ErrBadArgument, "lack column region"},
			"wrong type":     {runner.Values([]string{"week", "region"}, [][]any{{1, "a"}, {"x", "b"}}), runner.ErrBadArgument, "row 2, column week"},
			"short row":      {runner.Values([]string{"week", "region"}, [][]any{{1}}), runner.ErrBadArgument, "row 1 has 1 values"},
			"null key":       {runner.Values([]string{"week", "region"}, [][]any{{1, nil}}), nil, "region"},
			"check":          {runner.Rows([]count{{1, "a", -1}}), nil, "n_not_negative"},
			"broken rows":    {runner.Seq(func(yield func(count, error) bool) { _ = yield(count{1, "a", 1}, nil) && yield(count{}, errStep) }), errStep, "row 2"},
		} {
			_, err := tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
				return t.DropAllRowsAndThenInsert(ctx, c.rows)
			}).Run(t.Context(), f.runner, opts...)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "anon.counts") {
				t.Errorf("%s, %s: %v", mode, name, err)
			}
			f.wantCounts("0 old 7")
		}
	}
}

func TestEmptyRowsAreNoError(t *testing.T) {
	for _, opts := range modes {
		f := newFixture(t)
		f.exec(oldRow)
		f.mustRun(tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
			for _, rows := range []runner.Source{
				runner.Rows([]count{}), runner.Rows([]map[string]any{}), runner.Values([]string{"week", "region"}, nil),
				runner.Seq(func(func(count, error) bool) {}), runner.Rows([]count(nil)),
			} {
				if err := t.Insert(ctx, rows); err != nil {
					return err
				}
			}
			return nil
		}), opts...)
		f.wantCounts("0 old 7")
	}
}

// An empty table needs an explicit word.
func TestRunThatWouldEmptyATableNeedsAllowEmpty(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	task := tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
		return t.DropAllRowsAndThenInsert(ctx, runner.Rows([]map[string]any{}))
	})
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrNothingStaged)
	f.wantCounts("0 old 7")
	f.mustRun(task, runner.RunKey("k"), runner.AllowEmpty())
	f.wantCounts("")
}

func TestUpsertNeedsEveryColumn(t *testing.T) {
	for _, opts := range modes {
		f := newFixture(t)
		f.exec(oldRow)
		_, err := tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
			return t.Upsert(ctx, runner.Rows([]count{{0, "old", 8}}))
		}).Run(t.Context(), f.runner, opts...)
		f.wantIs(err, runner.ErrBadArgument)
		if !strings.Contains(err.Error(), "lack column note") {
			t.Errorf("got %v", err)
		}
		f.wantCounts("0 old 7")
	}
}

func TestUpsertReplacesAndAdds(t *testing.T) {
	for mode, opts := range modes {
		f := newFixture(t)
		f.exec(oldRow, "INSERT INTO anon.only_keys VALUES (1, 1)")
		task := stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
			return errors.Join(
				tables["counts"].Upsert(ctx, runner.Values([]string{"note", "n", "region", "week"}, [][]any{{nil, 8, "old", 0}, {"new", 9, "new", 1}})),
				tables["keys"].Upsert(ctx, runner.Values([]string{"a", "b"}, [][]any{{1, 1}, {1, 2}})))
		})
		task.Tables = runner.Tables{"counts": "anon.counts", "keys": "anon.only_keys"}
		f.mustRun(task, opts...)
		f.wantCounts("0 old 8, 1 new 9")
		f.want("-,new", "SELECT string_agg(coalesce(note, '-'), ',' ORDER BY week) FROM anon.counts")
		f.want("2", "SELECT count(*)::text FROM anon.only_keys")
		if t.Failed() {
			t.Fatal(mode)
		}
	}
}

// How rows are meant is the business of each write, also on a session that
// wrote another plan before.
func TestEveryPlanSaysHowItsRowsAreMeant(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow, "INSERT INTO anon.counts VALUES (1, 'old', 7, 'kept')")
	upsert := func(week int) step {
		return func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
			return tables["counts"].Upsert(ctx, runner.Values([]string{"week", "region", "n", "note"}, [][]any{{week, "old", 8, nil}}))
		}
	}
	f.mustRun(stepsTask(upsert(0), insert(count{2, "new", 1}), upsert(1), insert(count{3, "new", 1})), runner.RunKey("k"))
	f.wantCounts("0 old 8, 1 old 8, 2 new 1, 3 new 1")
	// an insert of a row that is there is refused before anything is touched
	_, err := stepsTask(upsert(2), insert(count{3, "new", 9})).Run(t.Context(), f.runner, runner.RunKey("k2"))
	f.wantIs(err, runner.ErrCannotFinish)
	f.wantCounts("0 old 8, 1 old 8, 2 new 1, 3 new 1")
}

func TestTableWithOddNames(t *testing.T) {
	for mode, opts := range modes {
		f := newFixture(t)
		columns := []string{"C Odd.x", "select", `a"b`, "day"}
		day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		f.mustRun(tableTask(`"S.x"."T.y Z"`, func(ctx context.Context, table *runner.Table) error {
			if table.Name() != `"S.x"."T.y Z"` {
				t.Errorf("name: %s", table.Name())
			}
			for _, forced := range []string{"serial", "double"} {
				err := table.Insert(ctx, runner.Values(append([]string{forced}, columns...), [][]any{{1, 1, "x", 1, nil}}))
				f.wantIs(err, runner.ErrBadArgument)
			}
			f.wantIs(table.Insert(ctx, runner.Values(columns, [][]any{{1, "x", 0.125, day}})), runner.ErrLossy)
			f.wantIs(table.Insert(ctx, runner.Values(columns, [][]any{{1, "x", 0.25, day.Add(time.Hour)}})), runner.ErrLossy)
			if err := table.DropRowsWhere(ctx, sq.Eq{"C Odd.x": 7}); err != nil {
				return err
			}
			if err := table.Insert(ctx, runner.Values(columns, [][]any{{1, "x", 0.25, day}, {2, "y", "1.50", nil}})); err != nil {
				return err
			}
			return table.Upsert(ctx, runner.Values(columns, [][]any{{3, "z", nil, &day}}))
		}), opts...)
		f.want(`1 2 0.25 2026-01-02, 2 4 1.50, 3 6 2026-01-02`,
			`SELECT string_agg(concat_ws(' ', "C Odd.x", double, "a""b", day), ', ' ORDER BY "C Odd.x") FROM "S.x"."T.y Z"`)
		f.exec(`INSERT INTO "S.x"."T.y Z" ("C Odd.x", "select") VALUES (9, 'plain')`)
		f.want("4", `SELECT count(DISTINCT serial)::text FROM "S.x"."T.y Z"`)
		if t.Failed() {
			t.Fatal(mode)
		}
	}
}

func TestPartitionedTable(t *testing.T) {
	for _, opts := range modes {
		f := newFixture(t)
		f.exec("INSERT INTO anon.parted VALUES (1, 'north'), (1, 'south')")
		write := func(region string) runner.Task[int, any] {
			return tableTask("anon.parted", func(ctx context.Context, t *runner.Table) error {
				return t.DropAllRowsAndThenInsert(ctx, runner.Values([]string{"id", "region"}, [][]any{{2, region}}))
			})
		}
		_, err := write("west").Run(t.Context(), f.runner, opts...)
		if err == nil || !strings.Contains(err.Error(), "no partition") {
			t.Errorf("a row without a partition: %v", err)
		}
		f.want("2", "SELECT count(*)::text FROM anon.parted")
		f.mustRun(write("north"), opts...)
		f.want("2 north", "SELECT string_agg(id || ' ' || region, ',') FROM anon.parted")
	}
}

func TestDeletes(t *testing.T) {
	drop := func(pred any, args ...any) func(context.Context, *runner.Table) error {
		return func(ctx context.Context, t *runner.Table) error { return t.DropRowsWhere(ctx, pred, args...) }
	}
	keep := func(pred any, args ...any) func(context.Context, *runner.Table) error {
		return func(ctx context.Context, t *runner.Table) error { return t.KeepRowsWhere(ctx, pred, args...) }
	}
	for mode, opts := range modes {
		f := newFixture(t)
		for name, c := range map[string]struct {
			do   func(context.Context, *runner.Table) error
			want string
		}{
			"text":      {drop("week >= ? AND region <> ?", 2, "it's"), "1 a 1, 2 it's 2"},
			"map":       {drop(map[string]any{"week": 1}), "2 it's 2, 3 c 3"},
			"list":      {drop(sq.Eq{"region": []string{"a", "c"}}), "2 it's 2"},
			"null note": {drop("note IS NULL"), "1 a 1"},
			"keep":      {keep("note = ?", "x"), "1 a 1"},
			"keep list": {keep("week = ANY (?)", []int{1, 3}), "1 a 1, 3 c 3"},
			"none":      {drop("week = ?", 99), "1 a 1, 2 it's 2, 3 c 3"},
		} {
			f.exec("TRUNCATE anon.counts", "INSERT INTO anon.counts VALUES (1, 'a', 1, 'x'), (2, 'it''s', 2, NULL), (3, 'c', 3, NULL)")
			if opts != nil {
				opts = []runner.Option{runner.RunKey(name)}
			}
			f.mustRun(tableTask("anon.counts", c.do), opts...)
			f.wantCounts(c.want)
			if t.Failed() {
				t.Fatal(mode, name)
			}
		}
	}
}

func TestBadConditionDeletesNothing(t *testing.T) {
	for mode, opts := range modes {
		f := newFixture(t)
		f.exec(oldRow)
		for _, pred := range []any{sq.Eq{}, sq.And{}, map[string]any{}, "", nil, "week", "no_such_column = 1", "week = 1; DELETE FROM anon.counts",
			"true) OR (true", "random() < 2", "week IN (SELECT 1)", "cs9_plan = 1", sq.Eq{"week": []int{}}} {
			_, err := tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error { return t.DropRowsWhere(ctx, pred) }).
				Run(t.Context(), f.runner, opts...)
			if !errors.Is(err, runner.ErrBadCondition) {
				t.Errorf("%s: %v: %v", mode, pred, err)
			}
			f.wantCounts("0 old 7")
		}
	}
}

func TestDeletesComeBeforeWritesInOnePlan(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	f.mustRun(tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
		if err := t.Insert(ctx, runner.Rows([]count{{1, "new", 1}})); err != nil {
			return err
		}
		return t.DropAllRows(ctx)
	}), runner.RunKey("k"))
	f.wantCounts("1 new 1")
}

func TestReturnsAreWrittenOnceAPlan(t *testing.T) {
	for mode, opts := range modes {
		f := newFixture(t)
		task := runner.Task[string, int]{
			Name:   "returns",
			Tables: runner.Tables{"totals": "anon.totals"},
			PlanList: func(context.Context, runner.Run) ([]runner.Plan[string], error) {
				return []runner.Plan[string]{{Analyses: []string{"a", "b", "none"}}, {Analyses: []string{"c"}}}, nil
			},
			Select: func(_ context.Context, a runner.Args[string], _ runner.Handles) (int, error) {
				return 100 * a.IndexPlan, nil
			},
			Returns: func(_ context.Context, n int, a runner.Args[string], _ runner.Handles) (runner.Source, error) {
				if a.Value == "none" {
					return runner.Rows([]map[string]any{}), nil
				}
				return runner.Rows([]map[string]any{{"region": a.Value, "n": n + a.IndexAnalysis}}), nil
			},
			ReturnTo: "totals",
			ReturnAs: runner.Upsert,
		}
		if _, err := task.Run(t.Context(), f.runner, opts...); err != nil {
			t.Fatal(mode, err)
		}
		f.want("a 101,b 102,c 204", "SELECT string_agg(region || ' ' || n, ',' ORDER BY region) FROM anon.totals")
		task.Returns = func(context.Context, int, runner.Args[string], runner.Handles) (runner.Source, error) {
			return nil, nil
		}
		_, err := task.Run(t.Context(), f.runner, append(opts, runner.RunKey("nil"))...)
		f.wantIs(err, runner.ErrNoRows)
	}
}

func TestLargeWriteStreams(t *testing.T) {
	f := newFixture(t)
	const rows = 100_000
	f.mustRun(tableTask("anon.counts", func(ctx context.Context, t *runner.Table) error {
		return t.Insert(ctx, runner.Seq(func(yield func(count, error) bool) {
			for i := range rows {
				if !yield(count{i, "a", 1}, nil) {
					return
				}
			}
		}))
	}), runner.RunKey("k"), runner.BatchRows(30_000))
	f.want("100000", "SELECT sum(n)::text FROM anon.counts")
	f.want("4", "SELECT batches::text FROM cs9.publish_progress WHERE kind = 'move'")
}

func TestTypesOfOtherSchemas(t *testing.T) {
	for _, opts := range modes {
		f := newFixtureOf(t, pgtest.NewDatabase(t))
		path := filepath.Join(t.TempDir(), "typed.yaml")
		definition := `{version: 1, tables: [{schema: anon, name: typed, keys: [id], columns: [{name: id, type: "odd.small"}, {name: mood, type: "odd.mood"},
			{name: moods, type: "odd.mood[]"}, {name: doc, type: jsonb}, {name: tags, type: "text[]"}, {name: u, type: uuid}]}]}`
		if err := os.WriteFile(path, []byte(definition), 0o600); err != nil {
			t.Fatal(err)
		}
		f.exec("CREATE SCHEMA odd", "CREATE TYPE odd.mood AS ENUM ('good', 'bad')", "CREATE DOMAIN odd.small AS integer CHECK (VALUE < 10)")
		pgtest.Install(t, f.url, path)
		write := func(op func(*runner.Table, context.Context, runner.Source) error, id any, mood string) error {
			_, err := tableTask("anon.typed", func(ctx context.Context, t *runner.Table) error {
				return op(t, ctx, runner.Values([]string{"id", "mood", "moods", "doc", "tags", "u"}, [][]any{
					{id, mood, []string{"bad", "good"}, map[string]int{"a": 1}, []string{"x", "y"}, [16]byte{15: 1}}}))
			}).Run(t.Context(), f.runner, opts...)
			return err
		}
		f.wantIs(write((*runner.Table).Insert, 2.5, "good"), runner.ErrLossy)
		for _, wrong := range []error{write((*runner.Table).Insert, 1, "sad"), write((*runner.Table).Insert, 11, "good")} {
			if wrong == nil {
				t.Error("a wrong value was accepted")
			}
		}
		if err := write((*runner.Table).Upsert, 1, "good"); err != nil {
			t.Fatal(err)
		}
		f.want("1 good {bad,good} {\"a\": 1} {x,y} 00000000-0000-0000-0000-000000000001", "SELECT concat_ws(' ', id, mood, moods, doc, tags, u) FROM anon.typed")
	}
}
