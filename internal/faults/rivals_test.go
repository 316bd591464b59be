package faults_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// rivals starts the same number of runs at the same moment, and returns their
// errors. The one that gets the task stays in its first plan until all others
// have ended.
func (f *fixture) rivals(task func(start int) runner.Task[int, any], key func(start int) string) (winner int, errs []error) {
	const starts = 4
	var begin, lost, all sync.WaitGroup
	begin.Add(1)
	lost.Add(starts - 1)
	errs = make([]error, starts)
	winner = -1
	for i := range starts {
		r := f.newRunner(atOnce)
		t := task(i)
		act := t.Action
		t.Action = func(ctx context.Context, d any, a runner.Args[int], h runner.Handles) error {
			if a.IndexPlan == 1 {
				winner = i
				lost.Wait()
			}
			return act(ctx, d, a, h)
		}
		all.Go(func() {
			begin.Wait()
			if _, errs[i] = t.Run(f.Context(), r, runner.RunKey(key(i))); errs[i] != nil {
				lost.Done()
			}
		})
	}
	begin.Done()
	all.Wait()
	return winner, errs
}

func TestRivalsTwoRunnersWithOneKey(t *testing.T) {
	f := newFixture(t)
	task := func(int) runner.Task[int, any] {
		return stepsTask(clearAndInsert(series("a", 1, 50, 1)...), insert(series("b", 1, 50, 1)...))
	}
	winner, errs := f.rivals(task, func(int) string { return "k" })
	for i, err := range errs {
		if i == winner {
			if err != nil {
				t.Errorf("the owner of the task failed: %v", err)
			}
			continue
		}
		f.wantIs(err, runner.ErrRunAlive)
	}
	f.want("100 100", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.want("1 1", "SELECT count(*) || ' ' || max(attempt) FROM cs9.run")
	// the losers come again: the key is published
	result, err := task(0).Run(t.Context(), f.runner, runner.RunKey("k"))
	if err != nil || result.Outcome != runner.AlreadyPublished {
		t.Errorf("result %+v, %v", result, err)
	}
	f.wantClean()
}

func TestRivalsTwoKeysOfOneTask(t *testing.T) {
	f := newFixture(t)
	regions := []string{"a", "b", "c", "d"}
	task := func(i int) runner.Task[int, any] {
		return stepsTask(insert(series(regions[i], 1, 20, 1)...), insert(series(regions[i], 21, 40, 1)...))
	}
	key := func(i int) string { return "key " + regions[i] }
	winner, errs := f.rivals(task, key)
	for i, err := range errs {
		if i != winner {
			f.wantIs(err, runner.ErrRunAlive)
			f.want("0", "SELECT count(*)::text FROM anon.counts WHERE region = $1", regions[i])
		}
	}
	f.want("40", "SELECT count(*)::text FROM anon.counts")
	for i := range regions { // one after another all of them get there
		if _, err := task(i).Run(t.Context(), f.runner, runner.RunKey(key(i))); err != nil {
			t.Error(err)
		}
	}
	f.want("160 160", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

// Two tasks are not kept apart: each publishes its own rows. A row that both
// insert is refused to the second before it touches a live row.
func TestRivalsTwoTasksOnOneTable(t *testing.T) {
	f := newFixture(t)
	begun := make(chan struct{})
	published := make(chan error, 1)
	go func() {
		<-begun
		_, err := named("second", stepsTask(insert(series("b", 1, 30, 2)...), nothing)).Run(t.Context(), f.newRunner(), runner.RunKey("k"), runner.BatchRows(7))
		published <- err
	}()
	_, err := named("first", stepsTask(insert(series("a", 1, 30, 1)...), func(context.Context, runner.Run, runner.Handles) error {
		close(begun)
		err := <-published // the second begins and ends while the first is staging
		f.want("30 60", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
		return err
	}, nothing)).Run(t.Context(), f.runner, runner.RunKey("k"), runner.BatchRows(7))
	if err != nil {
		t.Error(err)
	}
	f.want("60 90", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")

	_, err = named("second", stepsTask(insert(count{31, "b", 2}, count{1, "a", 2}), nothing)).Run(t.Context(), f.runner, runner.RunKey("collides"))
	f.wantIs(err, runner.ErrCannotFinish)
	f.want("60 90", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	// an upsert is meant for what is there: the last publish wins
	f.mustRun(named("second", stepsTask(upsert(count{31, "b", 2}, count{1, "a", 2}), nothing)), runner.RunKey("wins"))
	f.want("61 93", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

// Both passed the check before either moved a row: the unique index decides.
// The loser keeps what it committed, doubles nothing, and can go on when the
// row is gone, or be discarded.
func TestRivalsTwoTasksThatCollideAfterTheCheck(t *testing.T) {
	f := newFixture(t)
	rows := append(series("b", 1, 20, 2), count{10, "a", 2})
	f.stoppedPublish(named("second", stepsTask(func(ctx context.Context, run runner.Run, h runner.Handles) error {
		// a delete makes it stop at the reader's lock; there is nothing to delete
		return clearAndInsert(rows...)(ctx, run, h)
	}, nothing)), "k")
	second := stepsTask(clearAndInsert(rows...), nothing)
	f.exec("UPDATE cs9.publish_step SET state = 'done' WHERE kind = 'truncate'") // as when it was committed before the other came
	f.mustRun(named("first", stepsTask(insert(series("a", 1, 10, 1)...), nothing)), runner.RunKey("k"))

	_, err := named("second", second).Run(t.Context(), f.runner, runner.RunKey("k"), runner.BatchRows(20))
	f.wantState(err, "23505")
	if !strings.Contains(err.Error(), "run again with the same key to publish the rest") {
		t.Errorf("the error does not say what is next: %v", err)
	}
	f.want("10 20", "SELECT count(*) FILTER (WHERE region = 'a' AND n = 1) || ' ' || count(*) FILTER (WHERE region = 'b') FROM anon.counts")
	f.want("publishing 20", "SELECT state || ' ' || rows_published FROM cs9.run_status WHERE task = 'second'")
	f.exec("DELETE FROM anon.counts WHERE week = 10 AND region = 'a'")
	result, err := named("second", second).Run(t.Context(), f.runner, runner.RunKey("k"))
	if err != nil || result.Outcome != runner.PublishedRest {
		t.Errorf("result %+v, %v", result, err)
	}
	f.want("30 51", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

// Two publishes of the same keys in small batches, staged in opposite orders:
// each batch locks rows in the order of the key, so they queue.
func TestRivalsTwoTasksThatUpsertTheSameKeys(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts SELECT w, 'a', 0 FROM generate_series(1, 400) AS w")
	var all sync.WaitGroup
	errs := make([]error, 2)
	for i, name := range []string{"first", "second"} {
		rows := series("a", 1, 400, i+1)
		if i == 1 {
			for l, r := 0, len(rows)-1; l < r; l, r = l+1, r-1 {
				rows[l], rows[r] = rows[r], rows[l]
			}
		}
		r := f.newRunner()
		all.Go(func() {
			_, errs[i] = named(name, stepsTask(upsert(rows...), nothing)).Run(f.Context(), r, runner.RunKey("k"), runner.BatchRows(25))
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	f.want("400 t", "SELECT count(*) || ' ' || (min(n) > 0)::text::char(1) FROM anon.counts")
	f.wantClean()
}

// publishByPsql calls cs9.publish, which must be refused.
func (f *fixture) publishByPsql(key, sqlState string) {
	f.Helper()
	f.publishByPsqlAt(f.url, key, sqlState)
}

// publishByPsqlAt calls cs9.publish, which must end with sqlState (empty: well).
func (f *fixture) publishByPsqlAt(url, key, sqlState string) {
	f.Helper()
	_, stderr, err := pgtest.Psql(f.T, url, "-v", "VERBOSITY=verbose", "-c", "CALL cs9.publish('counts', '"+key+"', 10)")
	if (err == nil) != (sqlState == "") || !strings.Contains(stderr, sqlState) {
		f.Errorf("psql: %v: %s; want %q", err, stderr, sqlState)
	}
}

func TestRivalsPsqlPublishesWhileARunnerLives(t *testing.T) {
	f := newFixture(t)
	task := stepsTask(clearAndInsert(series("a", 1, 10, 1)...), func(context.Context, runner.Run, runner.Handles) error {
		f.publishByPsql("k", "S9003") // it is not ready, whoever asks
		return nil
	}, nothing)
	holder := f.session("BEGIN", "LOCK TABLE anon.counts IN ACCESS SHARE MODE")
	ended := make(chan error, 1)
	go func() {
		_, err := task.Run(f.Context(), f.newRunner(func(c *runner.Config) { c.LockTimeout = time.Minute }), runner.RunKey("k"), runner.BatchRows(5))
		ended <- err
	}()
	f.awaitTrue(waitsFor, "anon.counts", "AccessExclusiveLock")
	f.publishByPsql("k", "S9001")
	pgtest.Exec(t, holder, "ROLLBACK")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	f.publishByPsql("k", "S9004")
	f.want("10 10", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

func TestRivalsTwoPsqlPublishAtOnce(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
	f.stoppedPublish(stepsTask(clearAndInsert(series("a", 1, 30, 1)...), nothing), "k")

	reader := f.session("BEGIN", "LOCK TABLE anon.counts IN ACCESS SHARE MODE")
	first := make(chan error, 1)
	go func() {
		_, stderr, err := pgtest.Psql(t, f.url, "-c", "SET cs9.lock_timeout = '60s'", "-c", "CALL cs9.publish('counts', 'k', 10)")
		if err != nil {
			err = errors.New(stderr)
		}
		first <- err
	}()
	f.awaitTrue(waitsFor, "anon.counts", "AccessExclusiveLock")
	f.publishByPsql("k", "S9001")
	pgtest.Exec(t, reader, "ROLLBACK")
	if err := <-first; err != nil {
		t.Errorf("the first psql: %v", err)
	}
	f.publishByPsql("k", "S9004")
	f.want("30 30", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

// A pause of the process at the worst moment: the lock's connection is gone, the
// program does not know, and a second attempt begins while a COPY is in flight.
func TestRivalsZombieInTheMiddleOfACopy(t *testing.T) {
	f := newFixture(t)
	retry := stepsTask(clearAndInsert(series("a", 1, 10, 2)...), insert(series("b", 1, 10, 2)...), insert(series("c", 1, 10, 2)...))
	var retryErr error
	zombie := stepsTask(clearAndInsert(series("a", 1, 10, 1)...), func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		rows := func(yield func(count, error) bool) {
			for w := 1; w <= 10; w++ {
				if w == 5 {
					f.cutOwner()
					_, retryErr = retry.Run(f.Context(), f.newRunner(), runner.RunKey("k"))
				}
				if !yield(count{w, "b", 1}, nil) {
					return
				}
			}
		}
		return h["counts"].Insert(context.WithoutCancel(ctx), runner.Seq(rows))
	}, insert(series("c", 1, 10, 1)...))
	_, err := zombie.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantIs(err, runner.ErrNotOwner)
	if retryErr != nil {
		t.Errorf("the second attempt: %v", retryErr)
	}
	f.want("30 60", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

func (f *fixture) cutOwner() {
	f.Helper()
	f.want("true", `SELECT pg_terminate_backend(cs9.task_owner(task_id), 10000)::text FROM cs9.task WHERE task = 'counts'`)
}

// The same without a client that notices: the old attempt's connections are
// plain sessions, which go on staging, finishing and publishing.
func TestRivalsZombieThatNoticesNothing(t *testing.T) {
	f := newFixture(t)
	old := f.session("SELECT cs9.begin_run('counts', 'k', ARRAY['anon.counts', 'anon.totals'], '[[1], [2]]')")
	worker := f.session("SELECT cs9.begin_plan(1, 1, 1)", "SELECT cs9.staging_table(1, 'anon.counts')")
	staged := pgtest.Scalar[string](t, worker, "SELECT cs9.staging_table(1, 'anon.counts')")
	write := "INSERT INTO " + staged + " (week, region, n) VALUES (1, 'zombie', 1)"
	pgtest.Exec(t, worker, write, "BEGIN", strings.Replace(write, "(1,", "(2,", 1))
	f.cutOwner()

	// the write in flight is waited for, and not for ever
	retry := stepsTask(insert(count{1, "a", 1}), insert(count{2, "a", 1}))
	_, err := retry.Run(t.Context(), f.newRunner(noPatience, atOnce), runner.RunKey("k"))
	f.wantIs(err, runner.ErrRunAlive)
	pgtest.Exec(t, worker, "COMMIT")

	retry = stepsTask(func(ctx context.Context, run runner.Run, h runner.Handles) error {
		for _, sql := range []string{write, "SELECT cs9.finish_plan(1, 1, 1)", "SELECT cs9.begin_plan(1, 2, 1)", "SELECT cs9.finish_run(1, 1)",
			"SELECT cs9.drop_all_rows('anon.counts')"} {
			if _, err := worker.Exec(ctx, sql); err == nil || !strings.Contains(err.Error(), "S9006") {
				t.Errorf("the zombie's %s: %v", sql, err)
			}
		}
		if _, err := worker.Exec(ctx, "CALL cs9.publish('counts', 'k')"); err == nil || !strings.Contains(err.Error(), "S9003") {
			t.Errorf("the zombie's publish: %v", err)
		}
		return insert(count{1, "a", 1})(ctx, run, h)
	}, insert(count{2, "a", 1}))
	result := f.mustRun(retry, runner.RunKey("k"))
	if result.Attempt != 2 {
		t.Errorf("attempt %d", result.Attempt)
	}
	f.wantCounts("1 a 1, 2 a 1")
	if _, err := old.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the old owner's session lives")
	}
	f.wantClean()
}

// keepTime is the server's own measure of how long a SELECT waited.
const keepTime = "SELECT extract(epoch FROM clock_timestamp() - statement_timestamp())::float8 + 0 * count(*) FROM anon.counts"

// A reader that stays for long: the publish tries, gives way, and stops; other
// readers wait for one try at most, although the first reader never went.
func TestRivalsReaderHoldsTheTableAgainstATruncate(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
	const lockTimeout = 700 * time.Millisecond
	r := f.newRunner(func(c *runner.Config) {
		c.LockTimeout, c.LockRetries, c.LockBackoff = lockTimeout, 1, 10*time.Millisecond
	})
	holder := f.session("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT FROM anon.counts")
	task := stepsTask(clearAndInsert(series("a", 1, 3, 1)...), nothing)
	ended := make(chan error, 1)
	go func() {
		_, err := task.Run(f.Context(), r, runner.RunKey("k"))
		ended <- err
	}()
	f.awaitTrue(waitsFor, "anon.counts", "AccessExclusiveLock")
	readers, waited := 0, 0.0
	other := f.session()
	var err error
	for done := false; !done; readers++ {
		select {
		case err = <-ended:
			done = true
		default:
			waited = max(waited, pgtest.Scalar[float64](t, other, keepTime))
		}
	}
	f.wantIs(err, runner.ErrPublishStopped)
	t.Logf("%d reads while the publish tried; the longest wait %.3f s, lock_timeout %s", readers, waited, lockTimeout)
	if limit := lockTimeout.Seconds() + 1; waited > limit || readers < 2 {
		t.Errorf("%d reads, the longest waited %.3f s, more than %.3f s", readers, waited, limit)
	}
	if got := pgtest.Scalar[int](t, holder, "SELECT sum(n)::integer FROM anon.counts"); got != 7 {
		t.Errorf("the first reader sees %d", got)
	}
	f.wantCounts("0 old 7")
	pgtest.Exec(t, holder, "COMMIT")
	result, err := task.Run(t.Context(), r, runner.RunKey("k"))
	if err != nil || result.Outcome != runner.PublishedRest {
		t.Errorf("result %+v, %v", result, err)
	}
	f.wantCounts("1 a 1, 2 a 1, 3 a 1")
	f.wantClean()
}
