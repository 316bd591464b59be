package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	sq "github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

// A ? is an argument in the code of a query alone.
func TestQueryLeavesQuestionMarksInLiteralsAlone(t *testing.T) {
	f := newFixture(t)
	f.exec(`INSERT INTO anon.counts (week, region, n, note) VALUES (1, 'a?b', 1, '{"k": {"x": 1}}')`)
	count := sq.Select("count(*)")
	f.mustRun(stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		for name, query := range map[string]sq.SelectBuilder{
			"literal":               count.Where("region = 'a?b'"),
			"literal and argument":  count.Where("region = 'a?b' AND week = ?", 1),
			"quoted name":           sq.Select(`count(*) AS "n?"`).Where("week = ?", 1),
			"comment":               count.Where("week = ? -- why?\n AND /* ? /* ? */ */ n = ?", 1, 1),
			"dollar quotes":         count.Where("region = $x$a?b$x$ AND $$?$$ <> 'a' AND week = ?", 1),
			"E string":              count.Where(`region = E'a?\x62' AND E'\'?' <> 'x' AND week = ?`, 1),
			"E string that goes on": count.Where("region = E'a' -- it's\n'?\\x62' AND week = ?", 1),
			"operators":             count.Where("note::jsonb ?| ARRAY['k'] AND note::jsonb ?& ARRAY['k'] AND note::jsonb @? '$.k' AND note::jsonb ?? 'k' AND week=?", 1),
			"equal and no blank":    count.Where("week=? AND n=?", 1, 1),
			"numbered by squirrel":  count.Where(sq.Eq{"week": []int{1, 2}}).Where("region <> '?'").PlaceholderFormat(sq.Dollar),
			"a question as a text":  count.Where("region = ?", "a?b"),
		} {
			rows, err := tables["counts"].Query(ctx, query)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if n, err := oneInt(rows); err != nil || n != 1 {
				t.Errorf("%s: read %d, %v", name, n, err)
			}
		}
		for _, query := range []sq.SelectBuilder{count.Where("week = ?"), count.Where("region = 'a??b'"), count.Where("region = 'a"), count.Where("week = 1", 2)} {
			_, err := tables["counts"].Query(ctx, query) //nolint:sqlclosecheck // there are none
			f.wantIs(err, runner.ErrBadArgument)
		}
		return nil
	}))
}

// A query reads: what would write is refused, changes nothing, and the plan goes on.
func TestQueryCannotWrite(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow, "CREATE SEQUENCE anon.numbers", "CREATE FUNCTION anon.wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM anon.counts RETURNING 1'")
	for key, opts := range modes {
		f.mustRun(stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
			for name, query := range map[string]sq.SelectBuilder{
				"delete in WITH": sq.Select("week").Prefix("WITH i AS (DELETE FROM anon.counts RETURNING week)").From("i"),
				"insert in WITH": sq.Select("week").Prefix("WITH i AS (INSERT INTO anon.counts (week, region) VALUES (8, 'x') RETURNING week)").From("i"),
				"a function":     sq.Select("anon.wipe()").From("anon.counts"),
				"a sequence":     sq.Select("nextval('anon.numbers')").From("anon.counts"),
				"a routine":      sq.Select("cs9.drop_rows_where('anon.counts', 'week = 0')").From("anon.counts"),
				"row locks":      sq.Select("week").From("anon.counts").Suffix("FOR UPDATE"),
				"the setting":    sq.Select("set_config('transaction_read_only', 'off', true)").From("anon.counts"),
			} {
				rows, err := tables["counts"].Query(ctx, query)
				if err == nil {
					_, err = pgx.CollectRows(rows, pgx.RowTo[any])
				}
				var pgErr *pgconn.PgError
				var typed *runner.Error
				switch {
				case !errors.As(err, &pgErr) || !errors.As(err, &typed) || pgErr.Code != "25006" && name != "the setting" && name != "a routine":
					t.Errorf("%s, %s: %v", key, name, err)
				case pgErr.Code == "25006" && (!strings.Contains(typed.Hint, "a query only reads") || typed.Table != "anon.counts"):
					t.Errorf("%s, %s: %v", key, name, err)
				}
			}
			rows, err := tables["counts"].Query(ctx, sq.Select("week"))
			if err != nil {
				return err
			}
			if _, err := oneInt(rows); err != nil {
				t.Error(err)
			}
			return insert(count{9, key, 1})(ctx, runner.Run{}, tables)
		}), opts...)
	}
	f.wantCounts("0 old 7, 9 direct 1, 9 staged 1")
}

// The transaction of a query has ended when its rows were read: it holds nothing
// that a migration would wait for.
func TestQueryHoldsNothingBehindItsRows(t *testing.T) {
	f := newFixture(t)
	f.exec(oldRow)
	f.mustRun(stepsTask(func(ctx context.Context, _ runner.Run, tables runner.Handles) error {
		rows, err := tables["counts"].Query(ctx, sq.Select("week"))
		if err != nil {
			return err
		}
		if _, err := oneInt(rows); err != nil {
			return err
		}
		f.want("0", "SELECT count(*)::text FROM pg_stat_activity WHERE application_name LIKE 'cs9gen %' AND datname = current_database() AND state LIKE 'idle in%'")
		f.exec("SET lock_timeout = '10s'", "ALTER TABLE anon.counts ALTER COLUMN note SET STATISTICS 1", "RESET lock_timeout")
		return nil
	}), runner.RunKey("k"))
}

// A zero Table is none of a run: an error, and no panic.
func TestZeroTableIsAnError(t *testing.T) {
	f := newFixture(t)
	var none *runner.Table
	for _, table := range []*runner.Table{{}, none} {
		_, errQuery := table.Query(t.Context(), sq.Select("1")) //nolint:sqlclosecheck // there are no rows to close
		_, errRows := table.NRow(t.Context())
		_, errStaged := table.Staged(t.Context())
		for _, err := range []error{
			errQuery, errRows, errStaged, table.Insert(t.Context(), runner.Rows([]count{{}})), table.Upsert(t.Context(), runner.Rows([]count{{}})), table.DropAllRows(t.Context()),
			table.DropAllRowsAndThenInsert(t.Context(), runner.Rows([]count{{}})), table.DropRowsWhere(t.Context(), "true"), table.KeepRowsWhere(t.Context(), sq.Eq{"week": 1}),
		} {
			f.wantIs(err, runner.ErrBadArgument)
		}
		_, _ = table.Name(), table.String()
	}
}
