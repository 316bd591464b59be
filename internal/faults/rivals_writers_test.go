package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// publishInBackground runs a task whose rows have been staged, and returns where
// its end arrives.
func (f *fixture) publishInBackground(task runner.Task[int, any], key string, change func(*runner.Config), opts ...runner.Option) <-chan error {
	f.Helper()
	r := f.newRunner(change)
	ended := make(chan error, 1)
	go func() {
		_, err := task.Run(f.Context(), r, append(opts, runner.RunKey(key))...)
		ended <- err
	}()
	return ended
}

func patient(c *runner.Config) { c.LockTimeout = time.Minute }

// A row that no batch touches stays as its writer left it; one that was there
// before a TRUNCATE goes with the others, whoever wrote it.
func TestRivalsDirectWriterWhoseRowsDoNotCollide(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts VALUES (0, 'old', 7)")
	writer := f.session("BEGIN", "INSERT INTO anon.counts VALUES (1, 'direct', 1)")
	ended := f.publishInBackground(stepsTask(clearAndInsert(series("a", 1, 10, 1)...), nothing), "k", patient, runner.BatchRows(4))
	f.awaitTrue(waitsFor, "anon.counts", "AccessExclusiveLock")
	pgtest.Exec(t, writer, "COMMIT")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	f.want("10 0", "SELECT count(*) || ' ' || count(*) FILTER (WHERE region IN ('direct', 'old')) FROM anon.counts")

	// without a delete, the publish and the writer do not meet
	writer = f.session("BEGIN", "INSERT INTO anon.counts VALUES (2, 'direct', 1)", "UPDATE anon.counts SET n = 5 WHERE week = 1 AND region = 'a'")
	f.mustRun(stepsTask(insert(series("b", 1, 10, 1)...), nothing), runner.RunKey("k2"), runner.BatchRows(4))
	pgtest.Exec(t, writer, "COMMIT")
	f.want("21 25", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

// P6 looks at the rows that are there when the publish begins. A row that
// someone writes after that, with the key of a staged insert, stops the publish
// by PostgreSQL's own error: the batches before it stay, nothing is doubled, and
// it goes on when the row is gone.
func TestRivalsDirectWriterWhoseRowCollides(t *testing.T) {
	f := newFixture(t)
	writer := f.session("BEGIN", "INSERT INTO anon.counts VALUES (15, 'a', 9)")
	task := stepsTask(insert(series("a", 1, 20, 1)...), nothing)
	ended := f.publishInBackground(task, "k", patient, runner.BatchRows(10))
	f.awaitTrue(`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted AND pid IN
		(SELECT pid FROM pg_stat_activity WHERE datname = current_database()))`)
	pgtest.Exec(t, writer, "COMMIT")
	err := <-ended
	f.wantState(err, "23505")
	f.want("publishing 10", "SELECT state || ' ' || rows_published FROM cs9.run_status")
	f.want("11 19", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	_, err = task.Run(t.Context(), f.runner, runner.RunKey("k"))
	f.wantState(err, "23505") // and again, as long as the row is there
	f.exec("DELETE FROM anon.counts WHERE n = 9")
	if result := f.mustRun(task, runner.RunKey("k")); result.Outcome != runner.PublishedRest || result.RowsPublished != 20 {
		t.Errorf("result %+v", result)
	}
	f.want("20 20", "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
	f.wantClean()
}

// lockInOppositeOrder is another session that holds the second row of a batch,
// and asks for the first while the batch holds that and waits for the second.
// Its own check for deadlocks is put off, so that the publish is the victim.
func (f *fixture) lockInOppositeOrder(second, first string) (finish func(end string)) {
	f.Helper()
	other := f.session("SET deadlock_timeout = '5min'", "SET application_name = 'other'", "BEGIN", second)
	return func(end string) {
		f.Helper()
		f.awaitTrue(`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted AND pid IN
			(SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cs9gen %'))`)
		pgtest.Exec(f.T, other, first, end)
	}
}

func countRetries(notices *[]string) func(*runner.Config) {
	return func(c *runner.Config) {
		c.LockTimeout, c.LockBackoff = time.Minute, 10*time.Millisecond
		c.Progress = func(p runner.Progress) {
			if p.Kind == runner.PublishWaits {
				*notices = append(*notices, p.StepKind)
			}
		}
	}
}

// A deadlock is a lock like any other to a publish: the batch is undone, tried
// again, and doubles nothing.
func TestRivalsDeadlockIsRetriedWithoutDoubling(t *testing.T) {
	for name, c := range map[string]struct {
		before        string // a live row, or none
		second, first string
		end           string
		plan          step
		want          string
	}{
		"upserts, the other commits": {
			"INSERT INTO anon.counts SELECT w, 'a', 0 FROM generate_series(1, 20) AS w",
			"UPDATE anon.counts SET note = 'other' WHERE week = 8", "UPDATE anon.counts SET note = 'other' WHERE week = 6",
			"COMMIT", upsert(series("a", 1, 20, 1)...), "20 20",
		},
		"inserts, the other gives up": {
			"", "INSERT INTO anon.counts VALUES (8, 'a', 9)", "INSERT INTO anon.counts VALUES (6, 'a', 9)",
			"ROLLBACK", insert(series("a", 1, 20, 1)...), "20 20",
		},
		"a delete by a condition": {
			"INSERT INTO anon.counts SELECT w, 'old', 0 FROM generate_series(1, 20) AS w",
			"UPDATE anon.counts SET n = 3 WHERE week = 8", "UPDATE anon.counts SET n = 3 WHERE week = 6",
			"COMMIT", dropOldThenInsert, "20 20",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if c.before != "" {
				f.exec(c.before)
			}
			finish := f.lockInOppositeOrder(c.second, c.first)
			var waits []string
			ended := f.publishInBackground(stepsTask(c.plan, nothing), "k", countRetries(&waits), runner.BatchRows(5))
			finish(c.end)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if len(waits) == 0 { // more than once, if it tries again before the other session has woken up
				t.Error("the publish did not wait: it was not the victim of the deadlock")
			}
			f.want(c.want, "SELECT count(*) || ' ' || sum(n) FROM anon.counts")
			f.wantClean()
		})
	}
}

func dropOldThenInsert(ctx context.Context, run runner.Run, h runner.Handles) error {
	if err := h["counts"].DropRowsWhere(ctx, "region = 'old'"); err != nil {
		return err
	}
	return insert(series("a", 1, 20, 1)...)(ctx, run, h)
}

// Two tables in the opposite order: a publish commits after each step, so that
// it never holds rows of one table while it waits for another.
func TestRivalsNoDeadlockOverTwoTables(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.totals VALUES ('a', 0)", "INSERT INTO anon.counts VALUES (1, 'a', 0)")
	other := f.session("BEGIN", "UPDATE anon.totals SET n = 5")
	task := stepsTask(upsert(count{1, "a", 1}), func(ctx context.Context, _ runner.Run, h runner.Handles) error {
		return h["totals"].Upsert(ctx, runner.Values([]string{"region", "n"}, [][]any{{"a", 1}}))
	})
	ended := f.publishInBackground(task, "k", patient)
	f.awaitTrue(`SELECT EXISTS (SELECT FROM pg_locks WHERE locktype IN ('transactionid', 'tuple') AND NOT granted AND pid IN
		(SELECT pid FROM pg_stat_activity WHERE datname = current_database()))`)
	pgtest.Exec(t, other, "UPDATE anon.counts SET n = n + 10", "COMMIT") // not held up by the publish
	if err := <-ended; err != nil {
		t.Error(err)
	}
	f.want("11 1", "SELECT (SELECT n FROM anon.counts) || ' ' || (SELECT n FROM anon.totals)")
	f.wantClean()
}
