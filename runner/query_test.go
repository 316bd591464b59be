package runner_test

import (
	"context"
	"testing"

	sq "github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/runner"
)

// Queries of a single row, whatever the table holds.
var (
	pidQuery   = sq.Select("pg_backend_pid()").From("(SELECT) AS one")
	sleepQuery = sq.Select("1").From("pg_sleep(60)")
)

func oneInt(rows pgx.Rows) (int, error) { return pgx.CollectOneRow(rows, pgx.RowTo[int]) }

func TestP2QueryReadsThePublishedTable(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow, "INSERT INTO anon.counts VALUES (1, 'old', 8, 'kept')")
	f.mustRun(stepsTask(func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		if err := insert(count{5, "new", 1})(ctx, run, tables); err != nil {
			return err
		}
		// no From: this table; ? becomes $1 whatever the builder's format is
		rows, err := tables["counts"].Query(ctx, sq.Select("n").Where(sq.Eq{"week": 1}).PlaceholderFormat(sq.Question))
		if err != nil {
			return err
		}
		if n, err := oneInt(rows); err != nil || n != 8 {
			t.Errorf("read %d, %v", n, err)
		}
		rows, err = tables["counts"].Query(ctx, sq.Select("count(*)").From("anon.counts"))
		if err != nil {
			return err
		}
		if n, err := oneInt(rows); err != nil || n != 2 {
			t.Errorf("counted %d, %v", n, err)
		}
		return nil
	}), runner.RunKey("k"))
}

func TestWriteWhileRowsAreOpenIsAnErrorAndNoHang(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	f.mustRun(stepsTask(func(ctx context.Context, run runner.Run, tables runner.Handles) error {
		rows, err := tables["counts"].Query(ctx, sq.Select("week"))
		if err != nil {
			return err
		}
		f.wantIs(insert(count{5, "new", 1})(ctx, run, tables), runner.ErrBadArgument)
		rows.Close()
		// rows that read the same connection while they are written
		reading := func(yield func(count, error) bool) {
			_, err := tables["counts"].NRow(ctx)
			f.wantIs(err, runner.ErrBadArgument)
			yield(count{5, "new", 1}, nil)
		}
		return tables["counts"].Insert(ctx, runner.Seq(reading))
	}, func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		_, err := tables["counts"].Query(ctx, sq.Select("week")) //nolint:sqlclosecheck // left open on purpose
		return err
	}), runner.RunKey("k"))
	f.wantCounts("0 old 7, 5 new 1")
}

func TestHandleOfAnEndedPlanRefuses(t *testing.T) {
	f := newFixture(t)
	var kept runner.Handles
	f.mustRun(stepsTask(func(_ context.Context, _ runner.Run, tables runner.Handles) error { kept = tables; return nil }), runner.RunKey("k"))
	_, err := kept["counts"].NRow(t.Context())
	f.wantIs(err, runner.ErrBadArgument)
	f.wantIs(kept["counts"].Insert(t.Context(), runner.Rows([]count{})), runner.ErrBadArgument)
}

// A migration between two runs, or two queries, of one process must not fail.
func TestQueryAfterDDL(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	f.mustRun(stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		for i, ddl := range []string{"SELECT", "ALTER TABLE anon.totals ADD COLUMN later text", "ALTER TABLE anon.totals ALTER COLUMN later TYPE varchar(9)"} {
			f.exec(ddl)
			rows, err := tables["totals"].Query(ctx, sq.Select("*"))
			if err != nil {
				return err
			}
			rows.Close()
			if err := rows.Err(); err != nil {
				t.Errorf("query %d: %v", i, err)
			}
		}
		return nil
	}))
}
