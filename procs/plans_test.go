package procs_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// open begins a plan of the live attempt.
func (s *session) open(plan int) {
	s.t.Helper()
	require.True(s.t, pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.begin_plan($1, $2, $3)", s.run, plan, s.attempt))
}

// next finishes a plan of the live attempt and begins another one; false: that
// one was skipped.
func (s *session) next(plan, next int) bool {
	s.t.Helper()
	return pgtest.Scalar[bool](s.t, s.conn, "SELECT cs9.next_plan($1, $2, $3, NULL, $4)", s.run, plan, s.attempt, next)
}

// write writes with the session's settings.
func (s *session) write(statement string) {
	s.t.Helper()
	s.exec(fmt.Sprintf(statement, s.staged()))
}

// plans is how far each plan came, with its attempt and how many rows it staged,
// and which plan and operation the session's settings name.
func (s *session) plans() string {
	s.t.Helper()
	return pgtest.Scalar[string](s.t, s.conn, `
		SELECT string_agg(concat_ws(' ', plan, state, attempt, rows_staged), ', ' ORDER BY plan)
		       || format('; settings %s/%s/%s', current_setting('cs9.plan', true), current_setting('cs9.attempt', true), current_setting('cs9.op', true))
		FROM cs9.plan WHERE run_id = $1`, s.run)
}

func TestP3NextPlanFinishesOnePlanAndBeginsAnother(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	s.open(1)
	s.exec("SELECT cs9.drop_all_rows($1)", table)
	s.write(insert1)
	s.exec("SET cs9.op = 'u'")
	require.True(t, s.next(1, 2))
	require.Equal(t, "1 done 1 1, 2 running 1, 3 pending; settings 2/1/", s.plans(), "rows are inserts again")
	s.write(insert2)
	require.True(t, s.next(2, 3))
	s.write(insert3)
	require.False(t, s.next(3, 1), "plan 1 is done in this attempt")
	require.Equal(t, "1 done 1 1, 2 done 1 1, 3 done 1 1; settings //", s.plans())
	s.refused("S9007", "SELECT cs9.staging_table($1, $2)", s.run, table)
	require.NoError(t, s.finish())
	s.exec("CALL cs9.publish('t', 'k')")
	require.Equal(t, newRows, s.live())
}

func TestP3NextPlanSkipsWhatIsDoneAndClearsWhatRunsAgain(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	s.plan(1, dropAll, insert1)
	s.plan(2, insert2)
	s.open(3)
	s.write(insert3)
	s.exec("SELECT cs9.drop_rows_where($1, 'week = 9')", table)
	require.Equal(t, "resumed", s.begin("k"))
	s.open(1)
	s.write(insert1)
	require.False(t, s.next(1, 2), "plan 2 was done in the first attempt")
	require.Equal(t, "1 done 2 1, 2 done 1 1, 3 running 1; settings //", s.plans())
	s.open(3)
	require.Equal(t, "1 2", pgtest.Scalar[string](t, s.conn, "SELECT string_agg(cs9_plan::text, ' ' ORDER BY cs9_plan) FROM "+s.staged()))

	require.Equal(t, "resumed", s.begin("k"))
	s.exec("UPDATE cs9.plan SET state = 'failed' WHERE run_id = $1 AND plan = 2", s.run)
	s.open(1)
	require.True(t, s.next(1, 2), "plan 2 runs again")
	require.Equal(t, int64(0), pgtest.Scalar[int64](t, s.conn, "SELECT count(*) FROM "+s.staged()), "without what it staged before")
	require.True(t, s.next(2, 3), "and so does the last one")
	require.Zero(t, pgtest.Scalar[int](t, s.conn, "SELECT count(*)::integer FROM cs9.staged_delete"))
}

func TestNextPlanDoesBothOrNeither(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	next := func(plan, next int) (string, []any) {
		return "SELECT cs9.next_plan($1, $2, $3, 0, $4)", []any{s.run, plan, s.attempt, next}
	}
	refused := func(state string, plan, following int) {
		t.Helper()
		sql, args := next(plan, following)
		s.refused(state, sql, args...)
	}
	s.begin("k")
	refused("S9007", 1, 2)
	s.open(1)
	before := s.plans()
	require.Equal(t, "1 running 1, 2 pending, 3 pending; settings 1/1/", before)
	refused("S9003", 1, 3) // plan 2 comes before the last one
	refused("S9016", 1, 4)
	refused("S9016", 1, 0)
	refused("S9007", 2, 3)
	require.Equal(t, before, s.plans())
	s.write(insert1) // it goes on

	other := connect(t, s.url)
	other.run, other.attempt = s.run, s.attempt
	require.True(t, s.next(1, 2))
	sql, args := next(2, 2)
	require.False(t, pgtest.Scalar[bool](t, s.conn, sql, args...), "it is done by the same call")
	require.Equal(t, "resumed", s.begin("k"))
	other.refused("S9006", "SELECT cs9.next_plan($1, 1, 1, 0, 3)", s.run)
}
