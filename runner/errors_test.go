package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/migrations"
	"github.com/cs9gen/cs9gen/procs"
)

func TestErrorCodesAgreeWithTheCatalogue(t *testing.T) {
	withoutSentinel := map[string]bool{
		"S9020": true, // no call of this package changes or removes a table
		"S9021": true,
	}
	seen := map[error]string{}
	for _, code := range procs.ErrorCodes {
		sentinel := sentinels[code.SQLState]
		if (sentinel == nil) != withoutSentinel[code.SQLState] {
			t.Errorf("%s (%s) has the sentinel %v", code.SQLState, code.Name, sentinel)
		}
		if other, twice := seen[sentinel]; twice && sentinel != nil {
			t.Errorf("%s and %s have the same sentinel", code.SQLState, other)
		}
		seen[sentinel] = code.SQLState
	}
	if SchemaVersion != migrations.SchemaVersion {
		t.Errorf("SchemaVersion is %d, the migrations install %d", SchemaVersion, migrations.SchemaVersion)
	}
}

func TestErrorIsMatchedByItsSQLState(t *testing.T) {
	pgErr := &pgconn.PgError{Code: "S9008", Message: "the plan list changed", Detail: "Plan 2 was 1.", Hint: "Discard it."}
	err := place(dbError(t.Context(), "begin_run", "", fmt.Errorf("wrapped: %w", pgErr)), "t", "k", 0, "no plan was run")
	if !errors.Is(err, ErrPlansChanged) || errors.Is(err, ErrTablesChanged) {
		t.Errorf("sentinels of %v", err)
	}
	var back *pgconn.PgError
	if !errors.As(err, &back) || back != pgErr {
		t.Errorf("the PgError is lost in %v", err)
	}
	want := `begin_run, task "t", run key "k": the plan list changed: Plan 2 was 1 (SQLSTATE S9008); Discard it; no plan was run`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestErrorOfACallersOwnWords(t *testing.T) {
	inner := place(dbError(t.Context(), "copy", "", &pgconn.PgError{Code: "23514", Message: "violates check"}), "", "", 0, "")
	inner.Op, inner.Table = "insert", "anon.x"
	err := place(fmt.Errorf("week 3: %w", inner), "t", "k", 2, resumeNext)
	want := `task "t", run key "k", plan 2: week 3: insert, table anon.x: violates check (SQLSTATE 23514); ` + resumeNext
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if err.Table != "anon.x" || err.SQLState != "23514" || err.Op != "insert" {
		t.Errorf("the fields are lost: %+v", err)
	}
	again := place(err, "t", "k", 2, resumeNext)
	if strings.Count(again.Error(), resumeNext) != 1 {
		t.Errorf("said twice: %s", again)
	}
}

// TestErrorIsOneLineAndRepeatsNothing: errors that were joined have a line each,
// and a hint of the database may say already what was kept.
func TestErrorIsOneLineAndRepeatsNothing(t *testing.T) {
	pgErr := &pgconn.PgError{Code: "S9011", Message: "twice", Detail: "Plan 1.\nPlan 2.", Hint: "Let it be written once; nothing was published."}
	for want, err := range map[string]error{
		`a, task "t": twice: Plan 1.; Plan 2 (SQLSTATE S9011); Let it be written once; ` + resumeNext: dbError(t.Context(), "a", "", pgErr),
		`task "t": cannot connect to: 1: refused; given up; ` + resumeNext:                            errors.New("cannot connect to:\n\t1: refused\n\t1: refused\ngiven up"),
	} {
		if got := place(err, "t", "", 0, resumeNext).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestCancelledQueryIsContextCanceled(t *testing.T) {
	reason := errors.New("the scheduler said so")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	err := dbError(ctx, "query", "", &pgconn.PgError{Code: "57014", Message: "canceling statement due to user request"})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), reason.Error()) {
		t.Errorf("the cause is not said: %v", err)
	}
}

func TestPublishProgress(t *testing.T) {
	p, ok := publishProgress(`{"run_id":1,"step":2,"kind":"move","table":"anon.x","rows":200000,"rows_done":400000,"rows_total":3000000,"done":false}`)
	if want := (Progress{Kind: PublishBatch, RunID: 1, Step: 2, StepKind: "move", Table: "anon.x", Rows: 200000, RowsDone: 400000, RowsTotal: 3000000}); !ok || p != want {
		t.Errorf("got %+v, %v", p, ok)
	}
	for _, other := range []string{"", "text", `{"a":1}`} {
		if _, ok := publishProgress(other); ok {
			t.Errorf("%q was taken for progress", other)
		}
	}
	p, ok = publishProgress(`{"run_id":1,"step":2,"kind":"move","table":"anon.x","waits":2,"pause":1,"done":false}`)
	if !ok || p.Kind != PublishWaits || p.Waits != 2 {
		t.Errorf("got %+v, %v", p, ok)
	}
}

func TestConfigIsCheckedOnce(t *testing.T) {
	full, err := Config{}.withDefaults()
	if err != nil || full.BatchRows != 200_000 || full.LockRetries != 5 || full.Now == nil || full.Logger == nil || full.Owner == "" {
		t.Errorf("defaults: %+v, %v", full, err)
	}
	for says, c := range map[string]Config{
		"batch rows is -1": {BatchRows: -1}, "LockTimeout is -1s": {LockTimeout: -time.Second}, "LockTimeout is 10ns": {LockTimeout: 10},
		"LockBackoff is -1ns": {LockBackoff: -1}, "Heartbeat is -1ns": {Heartbeat: -1},
	} {
		if _, err := c.withDefaults(); !errors.Is(err, ErrBadArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if never, _ := (Config{LockRetries: -1, AliveGrace: -1}).withDefaults(); never.LockRetries != 0 || never.AliveGrace != 0 {
		t.Errorf("negative: %+v", never)
	}
	for _, opt := range []Option{BatchRows(0), Movers(0)} {
		if _, err := full.options([]Option{opt}); !errors.Is(err, ErrBadArgument) {
			t.Errorf("options: %v", err)
		}
	}
}
