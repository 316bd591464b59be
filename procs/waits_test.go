package procs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

const fourPlans = `[{"week": 1}, {"week": 2}, {"week": 3}, {"week": 4}]`

// heldLocks are the locks that another session can hold where a call comes by:
// rows of the control tables, these tables as VACUUM FULL locks them, what was
// staged (%s), its template (%t), and the live table.
func heldLocks() []string {
	locks := []string{
		"SELECT FROM cs9.run FOR SHARE", // as each write of a plan does
		"LOCK TABLE %s IN ACCESS SHARE MODE", "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE",
		"LOCK TABLE anon.anon_rebuild_counts IN ACCESS SHARE MODE", "LOCK TABLE anon.anon_rebuild_counts IN ACCESS EXCLUSIVE MODE",
		"SELECT FROM anon.anon_rebuild_counts FOR UPDATE",
		"LOCK TABLE %t IN ACCESS EXCLUSIVE MODE",
	}
	for _, control := range []string{"task", "run", "run_table", "plan", "table_definition", "publish_step", "staged_delete"} {
		locks = append(locks, "LOCK TABLE cs9."+control+" IN ACCESS EXCLUSIVE MODE")
		if control != "staged_delete" {
			locks = append(locks, "SELECT FROM cs9."+control+" FOR UPDATE")
		}
	}
	return locks
}

// callsByState are all calls of docs/sql-interface.md, by how far the run is.
// A call that commits is made outside a transaction.
var callsByState = []struct {
	state string
	calls []string
}{
	{"plan 1 has begun", []string{"SELECT cs9.staging_table($1, 'anon.anon_rebuild_counts')"}},
	{"plan 2 has begun", []string{
		"SELECT cs9.begin_plan($1, 3, $2)", "SELECT cs9.finish_plan($1, 2, $2)", "SELECT cs9.next_plan($1, 2, $2, 1, 3)",
		"SELECT cs9.fail_plan($1, 2, $2, 'no')", "SELECT cs9.staging_table($1, 'anon.anon_rebuild_counts')",
		"SELECT cs9.drop_all_rows('anon.anon_rebuild_counts')", "SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'week = 9')",
		"SELECT cs9.keep_rows_where('anon.anon_rebuild_counts', 'week = 9')",
		"SELECT cs9.end_attempt($1, $2, 'no')", "SELECT cs9.release_run('t')",
		"SELECT cs9.set_publish_mode('t', 'k', 'atomic')", "SELECT cs9.may_publish('t', 'k')", "SELECT cs9.discard_run('t', 'k')",
		"SELECT cs9.claim_run('t', 'k')", "SELECT cs9.claim_run('another', 'k')",
		"SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', '" + fourPlans + "')",
		"SELECT cs9.begin_run('t', 'newer', '{anon.anon_rebuild_counts}', '" + fourPlans + "')",
		"SELECT cs9.delete_rows('anon.anon_rebuild_counts', 'all')", "SELECT cs9.delete_rows('anon.anon_rebuild_counts', 'where', 'week = 1')",
	}},
	{"a session that is gone had begun plan 2", []string{"SELECT cs9.begin_plan($1, 2, $2)"}},
	{"the plans are done", []string{"SELECT cs9.finish_run($1, $2)"}},
	{"ready", []string{
		"SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', '" + fourPlans + "')",
		"CALL cs9.publish('t', 'k')", "CALL cs9.join_publish('t', 'k')", "CALL anon.anon_rebuild_counts_publish('t', 'k')",
	}},
}

// bring brings a new run k to a state.
func (s *session) bring(state string) {
	s.t.Helper()
	require.NoError(s.t, s.conn.QueryRow(s.t.Context(), "SELECT run_id, attempt FROM cs9.begin_run('t', 'k', $1, $2)",
		[]string{table}, fourPlans).Scan(&s.run, &s.attempt))
	s.exec("SELECT cs9.begin_plan($1, 1, $2)", s.run, s.attempt)
	if state == "plan 1 has begun" {
		return
	}
	s.exec(dropAll)
	s.exec(fmt.Sprintf(insert1, s.staged()))
	s.exec("SELECT cs9.finish_plan($1, 1, $2)", s.run, s.attempt)
	if state == "a session that is gone had begun plan 2" {
		gone := connect(s.t, s.url)
		gone.exec("SELECT cs9.begin_plan($1, 2, $2)", s.run, s.attempt)
		gone.drop(s)
		return
	}
	s.exec("SELECT cs9.begin_plan($1, 2, $2)", s.run, s.attempt)
	if state == "plan 2 has begun" {
		return
	}
	s.exec(fmt.Sprintf(insert2, s.staged()))
	s.exec("SELECT cs9.next_plan($1, 2, $2, 1, 3)", s.run, s.attempt)
	s.exec(fmt.Sprintf(insert3, s.staged()))
	s.exec("SELECT cs9.next_plan($1, 3, $2, 1, 4)", s.run, s.attempt)
	s.exec("SELECT cs9.finish_plan($1, 4, $2)", s.run, s.attempt)
	if state == "ready" {
		require.NoError(s.t, s.finish())
	}
}

// No call waits without a bound: each is made beside each lock that another
// session can hold, and is done, or says within its bound who holds it.
func TestNoCallWaitsWithoutABound(t *testing.T) {
	t.Parallel()
	for _, at := range callsByState {
		t.Run(at.state, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.exec("SET cs9.lock_timeout = '10ms'; SET cs9.lock_retries = 1; SET cs9.lock_backoff = '1ms'", pgx.QueryExecModeSimpleProtocol)
			s.bring(at.state)
			refused := map[string]int{}
			for _, lock := range heldLocks() {
				for _, call := range at.calls {
					if pgtest.Scalar[bool](t, s.conn, "SELECT state IN ('published', 'discarded') FROM cs9.run ORDER BY run_id DESC LIMIT 1") {
						s.exec("SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', $1, p_again => true)", fourPlans)
						s.exec("SELECT cs9.discard_run('t', 'k')")
						s.bring(at.state)
					}
					if s.beside(lock, call) {
						refused[call]++
					}
				}
			}
			for _, call := range at.calls {
				require.NotZero(t, refused[call], "%s: no lock stood in its way", call)
				t.Logf("%s: refused beside %d locks", call, refused[call])
			}
		})
	}
}

// beside makes a call while another session holds a lock, and undoes it where
// it does not commit. It reports whether the call was refused for the lock.
func (s *session) beside(lock, call string) (refused bool) {
	s.t.Helper()
	staged := pgtest.Scalar[string](s.t, s.conn, "SELECT coalesce(cs9.staged_label($1, table_id), 'cs9.staged_delete') FROM cs9.run_table WHERE run_id = $1", s.run)
	template := pgtest.Scalar[string](s.t, s.conn, "SELECT format('%I.%I', schema_name, staging_name) FROM cs9.table_definition")
	holder, err := pgx.Connect(s.t.Context(), s.url)
	require.NoError(s.t, err)
	defer holder.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	pgtest.Exec(s.t, holder, "BEGIN", strings.NewReplacer("%s", staged, "%t", template).Replace(lock))

	commits := strings.HasPrefix(call, "CALL")
	if !commits {
		s.exec("BEGIN")
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	args := []any{pgx.QueryExecModeExec}
	args = append(args, []any{s.run, s.attempt}[:strings.Count(call, "$")]...)
	_, err = s.conn.Exec(ctx, call, args...)
	require.NoError(s.t, ctx.Err(), "%s waits without a bound beside %s", call, lock)
	pgtest.Exec(s.t, holder, "ROLLBACK")
	if !commits {
		s.exec("ROLLBACK")
	}
	if err == nil {
		return false
	}
	if strings.Contains(call, "join_publish") && strings.Contains(err.Error(), "S9003") {
		return false // nobody else is there who would begin the publish
	}
	var pgErr *pgconn.PgError
	require.True(s.t, errors.As(err, &pgErr), "%s beside %s: %v", call, lock, err)
	require.Contains(s.t, []string{"S9001", "S9017", "S9024"}, pgErr.Code, "%s beside %s: %v (%s)", call, lock, err, pgErr.Where)
	require.Contains(s.t, pgErr.Detail, fmt.Sprintf("process %d", holder.PgConn().PID()), "%s beside %s: %v", call, lock, err)
	return true
}

// What nobody needs for safety stops no run: statistics of what was staged, or
// of the live table, that cannot be computed.
func TestStatisticsThatCannotBeComputedStopNoRun(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"(1 / (week - week))", "(public.never(week))"} {
		s := newSession(t)
		s.exec("CREATE FUNCTION public.never(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN ASSERT false; RETURN $1; END'")
		s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
		s.exec("CREATE STATISTICS public.staged ON " + expression + " FROM " + s.stagedLabel())
		s.exec("CREATE STATISTICS public.live ON " + expression + " FROM " + table)
		require.NoError(t, s.finish())
		s.exec("CALL cs9.publish('t', 'k')")
		require.Equal(t, newRows, s.live())
		require.Contains(t, pgtest.Scalar[string](t, s.conn, "SELECT note FROM cs9.publish_step WHERE kind = 'analyze'"), "not analyzed: ")
		s.nothingLeft()
	}
}

// Nor does a staged table that cannot be dropped: a later call drops it.
func TestAStagedTableThatCannotBeDroppedStopsNoRun(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"RAISE EXCEPTION 'no drops today'", "ASSERT false"} {
		for _, event := range []string{"sql_drop", "ddl_command_start"} {
			s := newSession(t)
			s.ready("k", one(dropAll, insert1), one(insert2), one(insert3))
			require.NoError(t, s.finish())
			s.exec("CREATE FUNCTION public.no_drop() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN " + body + "; END$$")
			s.exec("CREATE EVENT TRIGGER no_drop ON " + event + " WHEN TAG IN ('DROP TABLE') EXECUTE FUNCTION public.no_drop()")
			s.exec("CALL cs9.publish('t', 'k')")
			require.Equal(t, newRows, s.live())
			require.Equal(t, "published", s.runState("k"))
			require.Equal(t, "new", s.begin("discarded"))
			require.True(t, s.plan(1, dropAll, insert1))
			s.exec("SELECT cs9.discard_run('t', 'discarded')")
			s.exec("DROP EVENT TRIGGER no_drop")
			require.Equal(t, "new", s.begin("next"))
			s.nothingLeft()
		}
	}
}
