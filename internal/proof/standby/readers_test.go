package standby

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// mayBeSeen is what docs/operations.md says that a statement on a standby sees
// of the publish of a generation after another, by mode.
var mayBeSeen = map[string][]string{
	"batched": {"old", "empty", "a part", "new"},
	"atomic":  {"old", "new"},
	"swap":    {"old", "new"},
}

// poller reads a table on the standby without pause, each statement by itself.
type poller struct {
	mode string
	conn *pgx.Conn

	mu        sync.Mutex
	gen       int // the generation that is being published
	seen      map[string]int
	cancelled int
	failed    error
}

func (p *poller) run(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		before := p.gen
		p.mu.Unlock()
		what, err := seen(ctx, p.conn, p.mode)
		p.mu.Lock()
		switch {
		case ctx.Err() != nil:
		case sqlState(err) == "40001":
			p.cancelled++
		case err != nil:
			p.failed = err
		default:
			p.seen[class(what, before, p.gen)]++
		}
		p.mu.Unlock()
		if err != nil && p.conn.IsClosed() {
			return
		}
	}
}

// class says what was seen in the words of the docs. The statement began while
// generation from was published or waited for, and ended while to was.
func class(what string, from, to int) string {
	for gen := from - 1; gen <= to; gen++ {
		switch {
		case what == key(gen) && gen == from-1:
			return "old"
		case what == key(gen):
			return "new"
		case what == "a part of "+key(gen) && gen >= from:
			return "a part"
		}
	}
	return what
}

// waitsForReaders are the settings of a standby that cancels nobody for the
// sake of the replay.
var waitsForReaders = []string{"max_standby_streaming_delay = -1", "hot_standby_feedback = on"}

func TestReadersOnAStandbySeeWhatThoseOfThePrimarySee(t *testing.T) {
	l := publishedLab(t)
	s := l.sharedStandby(waitsForReaders...)
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			p := &poller{mode: mode, conn: s.connect(), gen: 2, seen: map[string]int{}}
			ctx, stop := context.WithCancel(t.Context())
			var polling sync.WaitGroup
			polling.Go(func() { p.run(ctx) })
			watched := watch(t, l.url, mode)
			n := publishes(t)
			for gen := 2; gen < 2+n; gen++ {
				stage(t, l.conn, mode, gen)
				mustPublish(t, l.conn, mode, gen)
				s.catchUp()
				s.sees(mode, key(gen))
				p.mu.Lock()
				p.gen = gen + 1
				p.mu.Unlock()
			}
			watched()
			stop()
			polling.Wait()
			require.NoError(t, p.failed)
			require.Zero(t, p.cancelled)
			for what := range p.seen {
				require.Contains(t, mayBeSeen[mode], what, "%v", p.seen)
			}
			t.Logf("%d publishes: %v", n, p.seen)
		})
	}
}

// holder is a transaction on the standby that has read a table, and stays.
type holder struct{ conn *pgx.Conn }

func (s *hotStandby) hold(mode, want string) holder {
	s.Helper()
	conn := s.connect()
	pgtest.Exec(s.T, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	mustSee(s.T, conn, mode, want)
	return holder{conn}
}

// TestReplayWaitsForReadersAndThenCancelsThem publishes beside a transaction on
// the standby that has read the table.
func TestReplayWaitsForReadersAndThenCancelsThem(t *testing.T) {
	l := publishedLab(t)
	s := l.sharedStandby(waitsForReaders...)
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			defer watch(t, l.url, mode)()
			for gen := 2; gen < 2+publishes(t); gen++ {
				h := s.hold(mode, key(gen-1))
				stage(t, l.conn, mode, gen)
				mustPublish(t, l.conn, mode, gen)
				lsn := flushed(t, l.conn)
				if mode == "atomic" {
					pgtest.Exec(t, l.conn, "VACUUM hot.atomic")
					s.catchUp()
					mustSee(t, h.conn, mode, key(gen-1)) // it keeps its table
					s.sees(mode, key(gen))
					require.NoError(t, h.conn.Close(t.Context()))
					continue
				}
				// the replay stands still behind the reader, however long it stays
				s.await("the replay waits for a lock", func() bool {
					return pgtest.Scalar[bool](t, s.admin(), `SELECT EXISTS (SELECT FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
						WHERE NOT l.granted AND a.backend_type = 'startup' AND l.mode = 'AccessExclusiveLock')`)
				})
				require.False(t, s.replayed(lsn))
				mustSee(t, h.conn, mode, key(gen-1))
				// a later reader of the table waits too
				late := s.connect()
				pgtest.Exec(t, late, "SET lock_timeout = '50ms'")
				_, err := seen(t.Context(), late, mode)
				require.Equal(t, "55P03", sqlState(err))
				require.NoError(t, h.conn.Close(t.Context()))
				s.catchUp()
				mustSee(t, late, mode, key(gen))
				require.NoError(t, late.Close(t.Context()))
			}
		})
	}
}

// TestReadersThatKeepTheReplayWaitingAreCancelled tries the bound of that wait.
func TestReadersThatKeepTheReplayWaitingAreCancelled(t *testing.T) {
	l := publishedLab(t)
	s := l.sharedStandby("max_standby_streaming_delay = 100", "hot_standby_feedback = on")
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			defer watch(t, l.url, mode)()
			for gen := 2; gen < 2+publishes(t); gen++ {
				h := s.hold(mode, key(gen-1))
				stage(t, l.conn, mode, gen)
				mustPublish(t, l.conn, mode, gen)
				s.catchUp()
				what, err := seen(t.Context(), h.conn, mode)
				if mode == "atomic" {
					require.NoError(t, err)
					require.Equal(t, key(gen-1), what)
				} else {
					requireCancelled(t, err)
				}
				s.sees(mode, key(gen))
				require.NoError(t, h.conn.Close(t.Context()))
			}
		})
	}
}

// requireCancelled accepts what a reader is told whose transaction kept the
// replay waiting: one that was idle loses its connection.
func requireCancelled(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.Contains(t, []string{"40001", "57P01", ""}, sqlState(err), "%v", err)
}

// TestWithoutFeedbackAVacuumOfThePrimaryCancelsReadersOfAnAtomicTable tries why
// the docs ask for hot_standby_feedback.
func TestWithoutFeedbackAVacuumOfThePrimaryCancelsReadersOfAnAtomicTable(t *testing.T) {
	l := publishedLab(t)
	s := l.sharedStandby("max_standby_streaming_delay = 100", "hot_standby_feedback = off")
	h := s.hold("atomic", key(1))
	stage(t, l.conn, "atomic", 2)
	mustPublish(t, l.conn, "atomic", 2)
	s.catchUp()
	// rows that a transaction of this server still sees cannot be removed yet
	await(t, "the old rows are removed", func() bool {
		l.exec("VACUUM hot.atomic")
		return pgtest.Scalar[int](t, l.conn, "SELECT n_dead_tup::integer FROM pg_stat_user_tables WHERE relid = 'hot.atomic'::regclass") == 0
	})
	s.catchUp()
	_, err := seen(t.Context(), h.conn, "atomic")
	requireCancelled(t, err)
	s.sees("atomic", key(2))
}

// TestAStandbyShowsRunsAndTakesNone tries what the commands and routines say there.
func TestAStandbyShowsRunsAndTakesNone(t *testing.T) {
	l := newLab(t)
	_, run, attempt := begin(t, l.conn, "batched", 0)
	plan(t, l.conn, "batched", 0, run, attempt, 1)
	s := l.sharedStandby()
	conn := s.connect()
	require.Equal(t, "running true", pgtest.Scalar[string](t, l.conn, "SELECT state || ' ' || owner_alive FROM cs9.run_status"))
	require.Equal(t, "running unknown", pgtest.Scalar[string](t, conn, "SELECT state || ' ' || coalesce(owner_alive::text, 'unknown') FROM cs9.run_status"))
	require.Equal(t, []string{"done", "pending", "pending"}, pgtest.Scalar[[]string](t, conn, "SELECT array_agg(state::text ORDER BY plan) FROM cs9.plan_status"))

	for _, call := range []string{
		"SELECT cs9.claim_run('batched', 'generation 0')", "SELECT cs9.claim_run('new', 'new')",
		"SELECT cs9.begin_run('batched', 'generation 0', '{hot.batched}', '[1, 2, 3]')",
		fmt.Sprintf("SELECT cs9.begin_plan(%d, 2, %d)", run, attempt), fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", run, attempt),
		fmt.Sprintf("SELECT cs9.end_attempt(%d, %d, 'an error')", run, attempt), "SELECT cs9.drop_all_rows('hot.batched')",
		"SELECT cs9.discard_run('batched', 'generation 0')", "SELECT cs9.delete_rows('hot.batched', 'all')",
		"SELECT cs9.set_publish_mode('batched', 'generation 0', 'atomic')",
		"CALL cs9.publish('batched', 'generation 0')", "CALL cs9.join_publish('batched', 'generation 0')", "CALL hot.batched_publish('batched', 'generation 0')",
	} {
		_, err := conn.Exec(t.Context(), call)
		require.Equal(t, "S9023", sqlState(err), "%s: %v", call, err)
		require.True(t, strings.Contains(err.Error(), "this server is a standby"), "%s: %v", call, err)
	}
	// and the primary goes on as if nothing had been
	for p := 2; p <= 3; p++ {
		plan(t, l.conn, "batched", 0, run, attempt, p)
	}
	l.exec(fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", run, attempt))
	mustPublish(t, l.conn, "batched", 0)
	require.True(t, slices.Contains(mayBeSeen["batched"], "new"))
}
