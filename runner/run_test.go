package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cs9gen/cs9gen/runner"
)

const oldRow = "INSERT INTO anon.counts VALUES (0, 'old', 7, 'kept')"

func TestP1NothingIsLiveBeforeTheLastPlan(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	unchanged := func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		f.wantCounts("0 old 7")
		n, err := tables["counts"].NRow(ctx)
		if err == nil && n != 1 {
			f.Errorf("NRow is %d, and reads the published table", n)
		}
		return err
	}
	both := func(steps ...step) step {
		return func(ctx context.Context, run runner.Run, tables runner.Handles) error {
			for _, s := range steps {
				if err := s(ctx, run, tables); err != nil {
					return err
				}
			}
			return nil
		}
	}
	staged := func(want int64) step {
		return func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
			n, err := tables["counts"].Staged(ctx)
			if err == nil && n != want {
				f.Errorf("Staged is %d, want %d", n, want)
			}
			return err
		}
	}
	result := f.mustRun(stepsTask(
		both(staged(0), clearAndInsert(count{1, "north", 1}), unchanged, staged(1)),
		both(insert(count{2, "north", 2}, count{2, "south", 3}), unchanged),
		both(unchanged, staged(3)),
	), runner.RunKey("week 40"))
	f.wantCounts("1 north 1, 2 north 2, 2 south 3")
	f.wantPlans(result, []int{1, 2, 3}, nil)
	if result.Outcome != runner.Published || result.RowsStaged != 3 || result.RowsPublished != 3 || result.Plans != 3 || result.Attempt != 1 {
		t.Errorf("result: %+v", result)
	}
	f.want("published", "SELECT state FROM cs9.run_status")
	f.awaitGone()
}

func TestP1DirectRunWritesAtOnce(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	seen := func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		f.wantCounts("1 north 1")
		if run.ID() != 0 || run.Key() != "" {
			t.Errorf("run %d, key %q", run.ID(), run.Key())
		}
		if _, err := tables["counts"].Staged(ctx); !errors.Is(err, runner.ErrBadArgument) {
			t.Errorf("Staged without a run key: %v", err)
		}
		return tables["counts"].Upsert(ctx, runner.Rows([]struct {
			Week   int
			Region string
			N      int
			Note   string
		}{{1, "north", 5, "new"}, {2, "south", 6, "new"}}))
	}
	result := f.mustRun(stepsTask(clearAndInsert(count{1, "north", 1}), seen, failIfKeyed))
	f.wantCounts("1 north 5, 2 south 6")
	if result.Outcome != runner.Direct || result.RowsPublished != 3 || result.RunID != 0 {
		t.Errorf("result: %+v", result)
	}
	f.want("0", "SELECT count(*)::text FROM cs9.run")

	_, err := stepsTask(insert(count{3, "a", 1}), failing).Run(t.Context(), f.runner)
	f.wantIs(err, errStep)
	f.wantCounts("1 north 5, 2 south 6, 3 a 1")
	if !strings.Contains(err.Error(), "is live") {
		t.Errorf("the error does not say what is live: %v", err)
	}
	_, err = stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		return tables["counts"].DropAllRowsAndThenInsert(ctx, runner.Rows([]count{{4, "a", 1}, {4, "a", 1}}))
	}).Run(t.Context(), f.runner)
	if err == nil {
		t.Error("one key twice was accepted")
	}
	f.wantCounts("1 north 5, 2 south 6, 3 a 1")
}

func failIfKeyed(_ context.Context, run runner.Run, _ runner.Handles) error {
	if run.Key() != "" {
		return errStep
	}
	return nil
}

func TestP3FailedRunResumes(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	ran := map[int]int{}
	counted := func(plan int, s step) step {
		return func(ctx context.Context, run runner.Run, tables runner.Handles) error {
			ran[plan]++
			return s(ctx, run, tables)
		}
	}
	third := failing
	task := stepsTask(
		counted(1, clearAndInsert(count{1, "a", 1})),
		counted(2, insert(count{2, "a", 2})),
		counted(3, func(ctx context.Context, run runner.Run, tables runner.Handles) error {
			// staged before the failure: the retry must remove it
			if err := insert(count{3, "a", 3})(ctx, run, tables); err != nil {
				return err
			}
			return third(ctx, run, tables)
		}),
		counted(4, insert(count{4, "a", 4})),
	)
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, errStep)
	if !strings.Contains(err.Error(), "plan 3") || !strings.Contains(err.Error(), "nothing was published; run again with the same key to resume") {
		t.Errorf("the error: %v", err)
	}
	f.wantCounts("0 old 7")
	f.want("running", "SELECT state FROM cs9.run_status")
	f.want("false", "SELECT owner_alive::text FROM cs9.run_status")
	f.want("done,done,failed,pending", "SELECT string_agg(state, ',' ORDER BY plan) FROM cs9.plan_status")

	third = nothing
	result := f.mustRun(task, runner.RunKey("k"))
	f.wantCounts("1 a 1, 2 a 2, 3 a 3, 4 a 4")
	f.wantPlans(result, []int{1, 3, 4}, []int{2})
	if result.Attempt != 2 || ran[1] != 2 || ran[2] != 1 || ran[3] != 2 || ran[4] != 1 {
		t.Errorf("attempt %d, plans run %v", result.Attempt, ran)
	}
}

func TestP3LastPlanRunsAgainToo(t *testing.T) {
	f := newFixture(t)
	after := failing
	task := stepsTask(clearAndInsert(count{1, "a", 1}), insert(count{2, "a", 2}), insert(count{3, "a", 3}))
	task.After = func(ctx context.Context, run runner.Run, tables runner.Handles) error { return after(ctx, run, tables) }
	_, err := task.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, errStep)
	f.wantCounts("")
	after = nothing
	result := f.mustRun(task, runner.RunKey("k"))
	f.wantPlans(result, []int{1, 3}, []int{2})
	f.wantCounts("1 a 1, 2 a 2, 3 a 3")
}

func TestP4RowWrittenTwiceStopsTheRun(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	_, err := stepsTask(insert(count{1, "a", 1}), insert(count{1, "a", 2}), nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrDuplicateRow)
	for _, part := range []string{"anon.counts", "week", "(1, a)", "plan"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not name %q: %v", part, err)
		}
	}
	var typed *runner.Error
	if errors.As(err, &typed); typed.Table != "anon.counts" || typed.SQLState != "S9011" {
		t.Errorf("fields: %+v", typed)
	}
	f.wantCounts("0 old 7")
}

func TestP5PlanMayNotDeleteWhatAnotherWrote(t *testing.T) {
	f := newFixture(t)
	drop := func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		return tables["counts"].DropRowsWhere(ctx, "week = ?", 1)
	}
	_, err := stepsTask(nothing, insert(count{1, "a", 1}), drop, nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrDeletesOthersRows)
	f.wantCounts("")
	f.exec("INSERT INTO anon.counts VALUES (1, 'gone', 1), (2, 'kept', 2)")
	f.mustRun(stepsTask(drop, insert(count{1, "a", 1}), nothing), runner.RunKey("k2"))
	f.wantCounts("1 a 1, 2 kept 2")
}

func TestP9TodayIsThatOfTheFirstAttempt(t *testing.T) {
	f := newFixture(t)
	var seen []string
	second := failing
	task := stepsTask(insert(count{1, "a", 1}), func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		return second(ctx, run, tables)
	})
	plans := task.Plans
	task.Plans = func(ctx context.Context, run runner.Run) ([]int, error) {
		seen = append(seen, run.Today().Format(time.RFC3339))
		return plans(ctx, run)
	}
	oslo := time.FixedZone("Oslo", 3600)
	at := func(clock time.Time) *runner.Runner {
		return f.newRunner(func(c *runner.Config) { c.Now = func() time.Time { return clock } })
	}
	_, err := task.Run(t.Context(), at(time.Date(2026, 1, 2, 23, 59, 0, 0, oslo)), runner.RunKey("2026-01-02"))
	f.wantIs(err, errStep)
	second = nothing
	result, err := task.Run(t.Context(), at(time.Date(2026, 1, 3, 0, 5, 0, 0, oslo)), runner.RunKey("2026-01-02"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "2026-01-02T00:00:00Z"; len(seen) != 2 || seen[0] != want || seen[1] != want || result.Today.Format(time.RFC3339) != want {
		t.Errorf("the planner saw %v, the result has %s", seen, result.Today)
	}
}

func TestP11PublishedKeyIsANoOp(t *testing.T) {
	f := newFixture(t)
	planned := 0
	task := stepsTask(clearAndInsert(count{1, "a", 1}))
	plans := task.Plans
	task.Plans = func(ctx context.Context, run runner.Run) ([]int, error) { planned++; return plans(ctx, run) }
	first := f.mustRun(task, runner.RunKey("k"))
	f.exec("UPDATE anon.counts SET n = 9")

	result := f.mustRun(task, runner.RunKey("k"))
	if result.Outcome != runner.AlreadyPublished || result.RunID != first.RunID || planned != 1 || len(result.PlansRun) != 0 {
		t.Errorf("result %+v, planned %d times", result, planned)
	}
	if !strings.Contains(result.String(), "nothing to do") {
		t.Errorf("it does not say so: %s", result)
	}
	f.wantCounts("1 a 9")

	result = f.mustRun(task, runner.RunKey("k"), runner.Again())
	if result.Outcome != runner.Published || result.RunID == first.RunID {
		t.Errorf("again: %+v", result)
	}
	f.wantCounts("1 a 1")
}

func TestP7ChangedPlanListIsRefused(t *testing.T) {
	f := newFixture(t)
	_, err := stepsTask(insert(count{1, "a", 1}), failing, nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, errStep)
	_, err = stepsTask(insert(count{1, "a", 1}), nothing).Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrPlansChanged)
	if !strings.Contains(err.Error(), "Plan 3 was") {
		t.Errorf("the first difference is not named: %v", err)
	}
	// the same key of another task is another run
	other := stepsTask(insert(count{1, "a", 1}))
	other.Name = "other"
	f.mustRun(other, runner.RunKey("k"))
	f.wantCounts("1 a 1")
}

func TestRunWithOnePlanAndTwo(t *testing.T) {
	f := newFixture(t)
	f.wantPlans(f.mustRun(stepsTask(insert(count{1, "a", 1})), runner.RunKey("1")), []int{1}, nil)
	f.wantPlans(f.mustRun(stepsTask(insert(count{2, "a", 1}), insert(count{3, "a", 1})), runner.RunKey("2")), []int{1, 2}, nil)
	f.wantCounts("1 a 1, 2 a 1, 3 a 1")
}
