package faults_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// tableTask is a task of one table, "t", whose plan i does steps[i-1].
func tableTask(table string, steps ...step) runner.Task[int, any] {
	task := stepsTask(steps...)
	task.Name, task.Tables = "task of "+table, runner.Tables{"t": table}
	return task
}

// values clears the table if told so, and stages rows.
func values(clear bool, columns string, rows ...[]any) step {
	return func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		source := runner.Values(strings.Split(columns, " "), rows)
		if clear {
			return h["t"].DropAllRowsAndThenInsert(ctx, source)
		}
		return h["t"].Insert(ctx, source)
	}
}

// Rows that no partition takes stop the run before anything is cleared.
func TestCase02ClearWithRowsThatNoPartitionTakes(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.by_number SELECT i, y FROM unnest(ARRAY[5, 7, 9]) AS y, generate_series(1, 2) AS i")
	for name, s := range map[string]step{
		"no such value":  values(true, "id year", []any{1, 5}, []any{2, 6}),
		"null":           values(true, "id year", []any{1, nil}),
		"column missing": values(true, "id", []any{1}),
		"misspelt":       values(true, "id jear", []any{1, 5}),
		"no rows":        values(true, "id year"),
		"no source": func(ctx context.Context, _ runner.Run, h runner.Handles) error {
			return h["t"].DropAllRowsAndThenInsert(ctx, nil)
		},
	} {
		if _, err := tableTask("anon.by_number", s, nothing).Run(t.Context(), f.runner, runner.RunKey(name)); err == nil {
			t.Errorf("%s was accepted", name)
		}
		f.want("6", "SELECT count(*)::text FROM anon.by_number")
	}
}

// Every plan stages nothing and the last succeeds: refused, unless the task or
// the call says that an empty table is meant.
func TestCase04NothingArrivedIsNoReasonToEmptyATable(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
	task := stepsTask(func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		return h["counts"].DropAllRowsAndThenInsert(ctx, runner.Rows([]map[string]any{}))
	}, nothing, nothing)
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrNothingStaged)
	f.wantCounts("0 old 7")
	task.AllowEmpty = true
	f.mustRun(task, runner.RunKey("k"))
	f.wantCounts("")
	f.wantClean()
}

// What a reader sees in the mode "batched", and no more than that is promised:
// the old table, then an empty one, then a growing part of the new one, in
// transactions of one batch. Never old and new rows side by side, and never an
// error.
func TestCase05BatchedReadersSeeOldThenEmptyThenGrowing(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts SELECT w, 'old', 0 FROM generate_series(1, 50) AS w")
	task := stepsTask(clearAndInsert(series("new", 1, 50, 1)...), nothing)
	f.stoppedPublish(task, "k")
	reader := f.session("SET statement_timeout = '10s'")
	look := func() string {
		return pgtest.Scalar[string](t, reader, `SELECT count(*) FILTER (WHERE region = 'old') || '+' || count(*) FILTER (WHERE region = 'new') FROM anon.counts`)
	}
	seen := []string{look()}
	owner := f.session("SELECT cs9.claim_run('counts', 'k')", "SELECT cs9.begin_publish('counts', 'k', NULL, 20)")
	for more := true; more; {
		more = pgtest.Scalar[bool](t, owner, "SELECT more FROM cs9.publish_next(1, NULL, 20, 0)")
		if now := look(); now != seen[len(seen)-1] {
			seen = append(seen, now)
		}
	}
	pgtest.Exec(t, owner, "SELECT cs9.release_run('counts')")
	if got, want := strings.Join(seen, " "), "50+0 0+0 0+20 0+40 0+50"; got != want {
		t.Errorf("a reader saw %s, want %s", got, want)
	}
	f.wantClean()
}

// A load that the server rejects fails the plan, the run and the caller.
func TestCase13RejectedLoadIsNoSuccess(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
	for name, s := range map[string]step{
		"a key twice": insert(count{1, "a", 1}, count{1, "a", 2}),
		"a check":     insert(count{1, "a", 1}, count{2, "a", -1}),
		"a null": func(ctx context.Context, _ runner.Run, h runner.Handles) error {
			return h["counts"].Insert(ctx, runner.Values([]string{"week", "region", "n"}, [][]any{{1, "a", nil}}))
		},
		"a value of another type": func(ctx context.Context, _ runner.Run, h runner.Handles) error {
			return h["counts"].Insert(ctx, runner.Values([]string{"week", "region"}, [][]any{{1, "a"}, {"eins", "a"}}))
		},
	} {
		result, err := stepsTask(nothing, s, nothing).Run(t.Context(), f.runner, runner.RunKey(name))
		if err == nil || result != nil {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		if _, err := f.runner.Publish(t.Context(), "counts", name); err == nil {
			t.Errorf("%s: it can be published", name)
		}
		f.wantCounts("0 old 7")
	}
}

// A plan that swallows the error of its load does not get away with it.
func TestCase13SwallowedErrorLeavesNoPart(t *testing.T) {
	f := newFixture(t)
	f.mustRun(stepsTask(func(ctx context.Context, run runner.Run, h runner.Handles) error {
		_ = insert(count{1, "a", 1}, count{2, "a", -1})(ctx, run, h) // rejected whole
		return insert(count{3, "a", 1})(ctx, run, h)
	}, nothing), runner.RunKey("k"))
	f.wantCounts("3 a 1")
}

// Within a plan deletes come before writes; of another plan's rows they are
// refused: in either order, in a retry, and in parallel.
func TestCase15DeletesAndWritesOfOneKeyInOneRun(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (1, 'a', 0)")
	drop := func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		return h["counts"].DropRowsWhere(ctx, "week = 1 AND region = 'a'")
	}
	both := func(steps ...step) step {
		return func(ctx context.Context, run runner.Run, h runner.Handles) error {
			for _, s := range steps {
				if err := s(ctx, run, h); err != nil {
					return err
				}
			}
			return nil
		}
	}
	write := upsert(count{1, "a", 5})
	for name, steps := range map[string][]step{
		"insert, then delete": {nothing, write, drop, nothing},
		"delete, then insert": {nothing, drop, write, nothing},
	} {
		task := stepsTask(steps...)
		for cores := 1; cores <= 2; cores++ { // the retry skips both plans, and is refused again
			task.Cores = 3 - cores // in parallel first
			_, err := task.Run(t.Context(), f.runner, runner.RunKey(name))
			f.wantIs(err, runner.ErrDeletesOthersRows)
			f.wantCounts("1 a 0")
		}
	}
	for i, steps := range [][]step{{nothing, both(write, drop), nothing}, {nothing, both(drop, write), nothing}, {drop, write, nothing}} {
		f.exec("UPDATE anon.counts SET n = 0")
		last := failing
		steps[2] = func(ctx context.Context, run runner.Run, h runner.Handles) error { return last(ctx, run, h) }
		_, err := stepsTask(steps...).Run(t.Context(), f.runner, runner.RunKey(strconv.Itoa(i)))
		f.wantIs(err, errStep)
		last = nothing
		f.mustRun(stepsTask(steps...), runner.RunKey(strconv.Itoa(i)))
		f.wantCounts("1 a 5")
	}
}

// A key column holds no NULL, neither live nor staged, so that no row can be
// added again and again; a delete of NULLs finds them.
func TestCase16NullInAKeyIsRefused(t *testing.T) {
	f := newFixture(t)
	for range 2 {
		for _, direct := range []bool{true, false} {
			opts := []runner.Option{runner.RunKey("k")}
			if direct {
				opts = nil
			}
			_, err := stepsTask(func(ctx context.Context, _ runner.Run, h runner.Handles) error {
				return h["counts"].Upsert(ctx, runner.Values([]string{"week", "region", "n", "note"}, [][]any{{1, nil, 1, nil}}))
			}, nothing).Run(t.Context(), f.runner, opts...)
			f.wantState(err, "23502")
		}
	}
	f.exec("INSERT INTO anon.counts VALUES (1, 'a', 1, NULL), (2, 'a', 1, 'x')")
	f.mustRun(stepsTask(func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		return h["counts"].DropRowsWhere(ctx, map[string]any{"note": nil})
	}, nothing), runner.RunKey("delete"))
	f.wantCounts("2 a 1")
}

// A row lands in the partition that its value names: numbers are values, not
// positions, and values that look alike are not the same.
func TestCase19PartitionValuesThatLookAlike(t *testing.T) {
	f := newFixture(t)
	f.mustRun(tableTask("anon.by_number", values(false, "id year", []any{1, 5}, []any{2, 7}, []any{3, 9}), nothing), runner.RunKey("k"))
	f.want("by_number_5 5, by_number_7 7, by_number_9 9",
		"SELECT string_agg(tableoid::regclass::oid::regclass::text || ' ' || year, ', ' ORDER BY year) FROM (SELECT tableoid, year FROM anon.by_number) AS x, set_config('search_path', 'anon', true)")
	alike := []string{"a b", "a_b", "A", "a", "1", "01"}
	var rows [][]any
	for i, v := range alike {
		rows = append(rows, []any{i, v})
	}
	f.mustRun(tableTask("anon.alike", values(false, "id kind", rows...), nothing), runner.RunKey("k"))
	f.want("6 6", "SELECT count(*) || ' ' || count(DISTINCT tableoid) FROM anon.alike")
	for _, v := range []any{nil, "", "B", "a  b"} {
		if _, err := tableTask("anon.alike", values(false, "id kind", []any{9, v}), nothing).Run(t.Context(), f.runner, runner.RunKey("bad")); err == nil {
			t.Errorf("%v has no partition and was accepted", v)
		}
	}
	// a delete of one value leaves the others
	f.mustRun(tableTask("anon.alike", func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		return h["t"].DropRowsWhere(ctx, map[string]any{"kind": "a"})
	}, nothing), runner.RunKey("delete"))
	f.want("01 1 A a b a_b", "SELECT string_agg(kind, ' ' ORDER BY kind COLLATE \"C\") FROM anon.alike")
}

// Identity values are chosen once, when a row is staged; the sequence is the
// live table's own, so that a plain insert goes on after them.
func TestCase31IdentityValuesAreChosenOnce(t *testing.T) {
	f := newFixture(t)
	var rows [][]any
	for k := 1; k <= 100; k++ {
		rows = append(rows, []any{k})
	}
	task := tableTask("anon.numbered", values(false, "k", rows...), nothing)
	holder := f.session("BEGIN", "LOCK TABLE anon.numbered IN SHARE MODE")
	_, err := task.Run(t.Context(), f.newRunner(noPatience), runner.RunKey("k"), runner.BatchRows(30))
	f.wantIs(err, runner.ErrPublishStopped)
	const staged = "SELECT md5(string_agg(k || ' ' || id || ' ' || twice, ',' ORDER BY k)) FROM "
	before := pgtest.Scalar[string](t, f.conn, staged+pgtest.Scalar[string](t, f.conn,
		"SELECT cs9.staged_label(t.run_id, t.table_id) FROM cs9.run_table AS t WHERE t.staged_name IS NOT NULL"))
	pgtest.Exec(t, holder, "ROLLBACK")
	f.mustRun(task, runner.RunKey("k"))
	f.want(before, staged+"anon.numbered")
	f.exec("INSERT INTO anon.numbered (k) VALUES (101)")
	f.want("101 101 202", "SELECT count(*) || ' ' || count(DISTINCT id) || ' ' || max(twice) FROM anon.numbered")
	f.wantClean()
}

// A publish changes rows only: grants, views, triggers, policies and comments of
// the live table, and what depends on it, stay.
func TestCase47PublishKeepsWhatDependsOnTheTable(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)", "CREATE VIEW public.seen AS SELECT region, sum(n) AS n FROM anon.counts GROUP BY region",
		"CREATE TABLE public.heard (region text)", "GRANT SELECT ON anon.counts TO pg_monitor", "GRANT EXECUTE ON PROCEDURE anon.counts_publish TO pg_monitor",
		"CREATE FUNCTION public.hear() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.heard VALUES (NEW.region); RETURN NULL; END $$",
		"CREATE TRIGGER hear AFTER INSERT ON anon.counts FOR EACH ROW EXECUTE FUNCTION public.hear()",
		"ALTER TABLE anon.counts ENABLE ROW LEVEL SECURITY", "CREATE POLICY own ON anon.counts USING (true)",
		"CREATE STATISTICS public.st ON week, region FROM anon.counts", "COMMENT ON TABLE anon.counts IS 'mine'")
	const catalogue = `SELECT concat_ws(' ', c.oid, c.relacl, c.relrowsecurity, obj_description(c.oid), (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = c.oid),
		(SELECT count(*) FROM pg_policy AS p WHERE p.polrelid = c.oid), (SELECT count(*) FROM pg_statistic_ext AS e WHERE e.stxrelid = c.oid),
		(SELECT string_agg(p.proacl::text, ' ') FROM pg_proc AS p WHERE p.proname = 'counts_publish')) FROM pg_class AS c WHERE c.oid = 'anon.counts'::regclass`
	before := pgtest.Scalar[string](t, f.conn, catalogue)
	f.mustRun(stepsTask(clearAndInsert(series("new", 1, 5, 1)...), nothing), runner.RunKey("k"))
	f.want(before, catalogue)
	f.want("new 5", "SELECT string_agg(region || ' ' || n, ', ') FROM public.seen")
	f.want("5", "SELECT count(*)::text FROM public.heard")
	f.exec("GRANT USAGE ON SCHEMA anon TO pg_monitor", "SET ROLE pg_monitor")
	if got := pgtest.Scalar[int](t, f.conn, "SELECT count(*) FROM anon.counts"); got != 5 {
		t.Errorf("the reader sees %d rows", got)
	}
}

// A table that changes in the middle of a run loses nothing: the run is refused,
// and the rows stay. Nothing here drops a table.
func TestCase52ChangedTableStopsTheRunAndKeepsItsRows(t *testing.T) {
	for name, change := range map[string]string{
		"added":   "ALTER TABLE anon.counts ADD COLUMN extra text",
		"renamed": "ALTER TABLE anon.counts RENAME COLUMN note TO remark",
		"retyped": "ALTER TABLE anon.counts ALTER COLUMN n TYPE bigint",
		"dropped": "ALTER TABLE anon.counts DROP COLUMN note",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
			_, err := stepsTask(clearAndInsert(count{1, "a", 1}), failing).Run(t.Context(), f.runner, runner.RunKey("k"))
			f.wantIs(err, errStep)
			f.exec(change)
			_, err = stepsTask(clearAndInsert(count{1, "a", 1}), nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
			f.wantIs(err, runner.ErrCannotFinish)
			f.wantCounts("0 old 7")
		})
	}
}
