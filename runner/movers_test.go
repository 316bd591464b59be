package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// gate makes each move into anon.counts wait while the test holds it; what is
// tried beforehand passes.
const gate = `CREATE TABLE anon.gate ();
	CREATE FUNCTION anon.pass() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		c text;
	BEGIN
		GET DIAGNOSTICS c = PG_CONTEXT;
		IF c NOT LIKE '%cs9.try_step%' THEN
			LOCK TABLE anon.gate IN ACCESS SHARE MODE;
		END IF;
		RETURN NULL;
	END $$;
	CREATE TRIGGER gate BEFORE INSERT ON anon.counts FOR EACH STATEMENT EXECUTE FUNCTION anon.pass()`

func (f *fixture) closeGate() *pgx.Conn {
	f.Helper()
	conn := pgtest.Connect(f.T, f.url)
	pgtest.Exec(f.T, conn, "BEGIN", "LOCK TABLE anon.gate")
	return conn
}

// awaitAtGate waits until n sessions of the run want to pass.
func (f *fixture) awaitAtGate(ctx context.Context, n int) error {
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is lost with it
	for {
		var waiting int
		err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE relation = 'anon.gate'::regclass AND NOT granted").Scan(&waiting)
		if err != nil || waiting == n {
			return err
		}
	}
}

const manyRows = 5000

func manyCounts() step {
	rows := make([]count, manyRows)
	for i := range rows {
		rows[i] = count{i, "north", i}
	}
	return clearAndInsert(rows...)
}

func patient(c *runner.Config) { c.LockTimeout = time.Minute }

func TestMoversMoveTheirRangesSideBySide(t *testing.T) {
	f := newFixture(t, patient)
	f.exec(gate)
	closed := f.closeGate()
	seen := make(chan error, 1)
	go func() {
		seen <- f.awaitAtGate(t.Context(), 3)
		_, err := closed.Exec(t.Context(), "COMMIT")
		seen <- err
	}()
	result := f.mustRun(stepsTask(manyCounts()), runner.RunKey("k"), runner.Movers(3), runner.BatchRows(100))
	if err := errors.Join(<-seen, <-seen); err != nil {
		t.Fatal(err)
	}
	if result.RowsPublished != manyRows {
		t.Errorf("published %d rows", result.RowsPublished)
	}
	f.want(fmt.Sprint(manyRows), "SELECT count(DISTINCT n)::text FROM anon.counts")
	f.want("3", "SELECT count(*)::text FROM cs9.publish_progress WHERE kind = 'move'")
	moved := map[int]int64{}
	for _, e := range f.events {
		if e.StepKind == "move" {
			moved[e.Step] = max(moved[e.Step], e.RowsDone) // two movers may tell of one range out of order
		}
	}
	total := int64(0)
	for _, rows := range moved {
		total += rows
	}
	if len(moved) != 3 || total != manyRows {
		t.Errorf("the progress of the moves ends at %v", moved)
	}
	f.awaitGone()
}

func TestMoversEndWithACancelledPublish(t *testing.T) {
	f := newFixture(t, patient)
	f.exec(gate, oldRow)
	closed := f.closeGate()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan error, 1)
	go func() {
		seen <- f.awaitAtGate(ctx, 2)
		cancel()
	}()
	_, err := stepsTask(manyCounts()).Run(ctx, f.runner, runner.RunKey("k"), runner.Movers(2), runner.BatchRows(100))
	f.wantIs(err, context.Canceled)
	if err != nil && strings.Contains(err.Error(), "failed too") {
		t.Errorf("the mover ended because the publish did, and is not the reason: %v", err)
	}
	if err := <-seen; err != nil {
		t.Fatal(err)
	}
	f.awaitGone()
	pgtest.Exec(t, closed, "COMMIT")

	result, err := f.runner.Publish(t.Context(), "counts", "k", runner.Movers(2))
	if err != nil || result.Outcome != runner.PublishedRest {
		t.Fatalf("%+v, %v", result, err)
	}
	f.want(fmt.Sprint(manyRows), "SELECT count(DISTINCT n)::text FROM anon.counts")
}

// TestAPublishNeedsNoMover: the third connection of the run, the mover's, cannot
// be opened.
func TestAPublishNeedsNoMover(t *testing.T) {
	f := newFixture(t)
	config, err := pgxpool.ParseConfig(f.url)
	if err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int32
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if opened.Add(1) > 2 {
			return errStep
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var log bytes.Buffer
	r, err := runner.New(pool, &runner.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	result, err := stepsTask(manyCounts()).Run(t.Context(), r, runner.RunKey("k"), runner.Movers(2), runner.BatchRows(100))
	if err != nil || result.RowsPublished != manyRows {
		t.Fatalf("%+v, %v", result, err)
	}
	if !strings.Contains(log.String(), "a mover failed; the publish goes on without it") || !strings.Contains(log.String(), errStep.Error()) {
		t.Errorf("the log does not say it:\n%s", log.String())
	}
	f.want(fmt.Sprint(manyRows), "SELECT count(DISTINCT n)::text FROM anon.counts")

	// where the publish fails, both reasons are said
	opened.Store(0)
	f.exec("CREATE FUNCTION anon.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = '23514'; END $$",
		"CREATE TRIGGER no BEFORE INSERT ON anon.counts FOR EACH ROW WHEN (NEW.week = 4000) EXECUTE FUNCTION anon.no()")
	_, err = stepsTask(manyCounts()).Run(t.Context(), r, runner.RunKey("k2"), runner.Movers(2))
	var typed *runner.Error
	if !errors.As(err, &typed) || typed.SQLState != "23514" || !errors.Is(err, errStep) {
		t.Errorf("got %v", err)
	}
}

func TestPublishModeOfOneRun(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.counts (week, region, n) VALUES (1, 'north', 1), (2, 'north', 2)")
	applied := func() (notes []string) {
		for _, e := range f.events {
			if e.StepKind == "apply" {
				notes = append(notes, e.Note)
			}
		}
		return notes
	}
	same := stepsTask(clearAndInsert(count{1, "north", 1}, count{2, "north", 3}))
	f.mustRun(same, runner.RunKey("batched"))
	if notes := applied(); len(notes) != 0 {
		t.Errorf("batched, and yet %q", notes)
	}
	f.mustRun(same, runner.RunKey("atomic"), runner.PublishMode("atomic"), runner.Movers(2))
	if notes := applied(); len(notes) != 1 || !strings.Contains(notes[0], "anon.counts") {
		t.Errorf("the step apply says %q", notes)
	}
	f.wantCounts("1 north 1, 2 north 3")
	detail, err := f.runner.Show(t.Context(), "counts", "atomic")
	if err != nil || len(detail.Steps) == 0 || detail.Steps[0].Kind != "apply" || detail.Steps[0].Note == "" {
		t.Errorf("%+v, %v", detail, err)
	}

	_, err = same.Run(t.Context(), f.runner, runner.RunKey("swap"), runner.PublishMode("swap"))
	f.wantIs(err, runner.ErrBadArgument)
	_, err = same.Run(t.Context(), f.runner, runner.RunKey("odd"), runner.PublishMode("odd"))
	f.wantIs(err, runner.ErrBadArgument)
	_, err = same.Run(t.Context(), f.runner, runner.PublishMode("atomic"))
	f.wantIs(err, runner.ErrBadArgument)
	_, err = same.Run(t.Context(), f.runner, runner.RunKey("k"), runner.Movers(0))
	f.wantIs(err, runner.ErrBadArgument)
}

func TestPublishModeSwapsPartitions(t *testing.T) {
	f := newFixture(t)
	f.exec("INSERT INTO anon.parted VALUES (1, 'north'), (2, 'south')")
	task := stepsTask(func(ctx context.Context, _ runner.Run, t runner.Handles) error {
		return t["parted"].DropAllRowsAndThenInsert(ctx, runner.Values([]string{"id", "region"}, [][]any{{3, "north"}, {4, "south"}}))
	})
	task.Tables = runner.Tables{"parted": "anon.parted"}
	before := "SELECT sum(oid::bigint)::text FROM pg_class WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'anon.parted'::regclass)"
	was := pgtest.Scalar[string](t, f.conn, before)
	f.mustRun(task, runner.RunKey("k"), runner.PublishMode("swap"))
	f.want("3 north, 4 south", "SELECT string_agg(id || ' ' || region, ', ' ORDER BY id) FROM anon.parted")
	if is := pgtest.Scalar[string](t, f.conn, before); is == was {
		t.Error("the partitions are the old ones")
	}
}

func TestPublishTakesAModeUntilItHasBegun(t *testing.T) {
	f := newFixture(t)
	r, _ := blockedPublish(f, "k") // it stopped after its truncate
	result, err := r.Publish(t.Context(), "counts", "k", runner.PublishMode("atomic"))
	if err != nil || result.Outcome != runner.PublishedRest {
		t.Fatalf("%+v, %v", result, err)
	}
	f.want("0", "SELECT count(*)::text FROM cs9.publish_progress WHERE kind = 'apply'")
}
