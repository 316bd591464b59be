package faults_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// A run that is driven by hand through a pool of transactions is not protected:
// two clients are one session to the server, which says to both that they own
// the task. The second one's begin_run is a new attempt, and that is what stops
// the first: its calls name an attempt that is over. Its writes name nothing but
// the settings of the session, which are the second's as soon as that begins a
// plan; a row that both write is found as the run is finished.
func TestPgbouncerRunThroughAPoolOfTransactionsIsNotProtected(t *testing.T) {
	f := newFixture(t)
	proxied := f.pgbouncer("transaction", "default_pool_size = 1")
	first, second := f.driver(proxied), f.driver(proxied)
	begin := "SELECT format('%s %s', outcome, attempt) FROM cs9.begin_run('counts', 'k', '{anon.counts}', '[1, 2]')"
	first.want("new 1", begin)
	first.want("true", "SELECT cs9.begin_plan(1, 1, 1)::text")
	first.want("cs9_staging.cs9_r1_t1_rows_counts", "SELECT cs9.staging_table(1, 'anon.counts')")
	const write = "INSERT INTO cs9_staging.cs9_r1_t1_rows_counts (week, region, n) VALUES (1, 'a', $1) RETURNING 'written by plan ' || cs9_plan"
	first.want("written by plan 1", write, 1)

	second.want("resumed 2", begin) // not S9001
	first.refused("S9006", write, 1)
	first.refused("S9006", "SELECT cs9.staging_table(1, 'anon.counts')")
	first.refused("S9006", "SELECT cs9.finish_plan(1, 1, 1)::text")
	first.refused("S9006", "SELECT cs9.begin_plan(1, 2, 1)::text")
	second.want("true", "SELECT cs9.begin_plan(1, 1, 2)::text")
	first.refused("S9006", "SELECT cs9.finish_plan(1, 1, 1)::text")
	second.want("written by plan 1", write, 2)
	first.want("written by plan 1", write, 1) // the second's plan
	second.want("", "SELECT cs9.finish_plan(1, 1, 2)::text")
	first.refused("S9007", write, 1)
	second.want("true", "SELECT cs9.begin_plan(1, 2, 2)::text")
	second.want("", "SELECT cs9.finish_plan(1, 2, 2)::text")
	first.refused("S9006", "SELECT cs9.finish_run(1, 1)::text")
	second.refused("S9011", "SELECT cs9.finish_run(1, 2)::text")

	// the third attempt is undisturbed
	second.want("resumed 3", begin)
	for _, call := range []string{"SELECT cs9.begin_plan(1, 1, 3)::text", write, "SELECT cs9.finish_plan(1, 1, 3)::text", "SELECT cs9.begin_plan(1, 2, 3)::text",
		"SELECT cs9.finish_plan(1, 2, 3)::text", "SELECT cs9.finish_run(1, 3)::text"} {
		if call == write {
			second.want("written by plan 1", write, 3)
		} else {
			pgtest.Exec(t, second.conn, call)
		}
	}
	f.publishByPsqlAt(proxied, "k", "")
	f.wantCounts("1 a 3")
	f.wantClean()
}

// driver is a client that calls the SQL interface itself.
type driver struct {
	*fixture
	conn *pgx.Conn
}

func (f *fixture) driver(url string) driver { return driver{f, pgtest.Connect(f.T, url)} }

// call returns the one value of a statement, empty for NULL.
func (d driver) call(sql string, args ...any) (got string, err error) {
	var value *string
	args = append([]any{pgx.QueryExecModeSimpleProtocol}, args...)
	if err = d.conn.QueryRow(d.Context(), sql, args...).Scan(&value); value != nil {
		got = *value
	}
	return got, err
}

func (d driver) want(want, sql string, args ...any) {
	d.Helper()
	if got, err := d.call(sql, args...); err != nil || got != want {
		d.Errorf("%s: got %q, %v; want %q", sql, got, err, want)
	}
}

func (d driver) refused(sqlState, sql string, args ...any) {
	d.Helper()
	got, err := d.call(sql, args...)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != sqlState {
		d.Errorf("%s: got %q, %v; want SQLSTATE %s", sql, got, err, sqlState)
	}
}
