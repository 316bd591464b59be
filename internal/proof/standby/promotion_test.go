package standby

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// moment is a point of a run's WAL, and what the run is there.
type moment struct {
	name, lsn string
	state     string // of the run; "" where it is not looked at
}

// recordRun does a run on the primary from its first call to its end, and
// returns the points of the WAL at which a standby may be promoted.
func (l *lab) recordRun(mode string, gen int) []moment {
	l.Helper()
	var moments []moment
	other := pgtest.Connect(l.T, l.url)
	at := func(name, state string) {
		moments = append(moments, moment{name, pgtest.Scalar[string](l.T, other, "SELECT pg_current_wal_insert_lsn()::text"), state})
	}
	at("before the run", "")
	_, run, attempt := begin(l.T, l.conn, mode, gen)
	for p := 1; p <= 3; p++ {
		plan(l.T, l.conn, mode, gen, run, attempt, p)
		at(fmt.Sprintf("after plan %d", p), "running")
	}
	l.exec(fmt.Sprintf("SELECT cs9.finish_run(%d, %d)", run, attempt), "SELECT cs9.release_run('"+mode+"')")
	at("ready", "ready")
	cfg := l.conn.Config().Copy()
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Detail, `"kind"`) {
			at("in the publish, about "+n.Message, "")
		}
	}
	conn, err := pgx.ConnectConfig(l.Context(), cfg)
	require.NoError(l, err)
	mustPublish(l.T, conn, mode, gen)
	require.NoError(l, conn.Close(l.Context()))
	flushed(l.T, other)
	at("after the publish", "published")
	return moments
}

// TestAPromotedStandbyGoesOnWithTheRun promotes a standby at points of the WAL
// of a run; what the primary committed later is lost. The last key of before is
// called again, and then that of the run, as after any failover.
func TestAPromotedStandbyGoesOnWithTheRun(t *testing.T) {
	for _, mode := range modes {
		if !atLength() && mode != "batched" {
			continue // the others are done or not, at each point
		}
		t.Run(mode, func(t *testing.T) {
			l := publishedLab(t)
			points := []string{"in the publish, about the middle"}
			if atLength() {
				points = []string{"before the run", "after plan 1", "after plan 2", "after plan 3", "ready", "at random", "at random", "at random",
					"in the publish, about the middle", "in the publish, about the begin", "in the publish, about the end", "after the publish"}
			}
			for i, point := range points {
				t.Run(point, func(t *testing.T) {
					gen, l := i+2, &lab{T: t, url: l.url, conn: l.conn}
					s := l.standby("promoted")
					pgtest.Exec(t, s.admin(), "SELECT pg_wal_replay_pause()")
					watched := watch(t, l.url, mode)
					moments := l.recordRun(mode, gen)
					watched()
					s.received(moments[len(moments)-1].lsn)
					m := choose(t, moments, point)
					conn := s.promoteAt(m.lsn)
					t.Logf("promoted %s, at %s", m.name, m.lsn)
					if m.state != "" {
						require.Equal(t, m.state, pgtest.Scalar[string](t, conn, "SELECT state FROM cs9.run WHERE run_key = $1", key(gen)))
					}
					what, err := seen(t.Context(), conn, mode)
					require.NoError(t, err)
					require.Contains(t, append(mayBeSeen[mode], "never"), class(what, gen, gen))

					require.Equal(t, "published", again(t, conn, mode, gen-1), "the last key of before is a no-op")
					again(t, conn, mode, gen)
					mustSee(t, conn, mode, key(gen))
					require.Equal(t, "published", again(t, conn, mode, gen))
					require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace AND relkind IN ('r', 'p')"))
					// the next key goes its way
					stage(t, conn, mode, gen+1)
					mustPublish(t, conn, mode, gen+1)
					mustSee(t, conn, mode, key(gen+1))
					mustSee(t, l.conn, mode, key(gen)) // the old primary knows nothing of it: it must be fenced
				})
			}
		})
	}
}

// choose returns the moment that a name means.
func choose(t *testing.T, moments []moment, point string) moment {
	t.Helper()
	var steps []moment
	for _, m := range moments {
		if m.name == point {
			return m
		}
		if strings.HasPrefix(m.name, "in the publish") {
			steps = append(steps, m)
		}
	}
	switch point {
	case "in the publish, about the begin":
		return steps[0]
	case "in the publish, about the middle":
		return steps[len(steps)/2]
	case "in the publish, about the end":
		return steps[len(steps)-1]
	}
	var first, last uint64
	for i, lsn := range []string{moments[0].lsn, moments[len(moments)-1].lsn} {
		var high, low uint64
		_, err := fmt.Sscanf(lsn, "%X/%X", &high, &low)
		require.NoError(t, err)
		if last = high<<32 | low; i == 0 {
			first = last
		}
	}
	seed := uint64(time.Now().UnixNano())
	at := first + rand.New(rand.NewPCG(seed, 0)).Uint64N(last-first+1)
	return moment{name: "at random", lsn: fmt.Sprintf("%X/%X", at>>32, at&0xffffffff)}
}

// received waits until the standby has the WAL up to a point.
func (s *hotStandby) received(lsn string) {
	s.Helper()
	s.await("the standby has received "+lsn, func() bool {
		return pgtest.Scalar[bool](s.T, s.admin(), "SELECT pg_last_wal_receive_lsn() >= $1::pg_lsn", lsn)
	})
}

// promoteAt lets the standby replay up to a point of the WAL, and makes it a
// primary there: what it received beyond is lost. It returns a session on it.
func (s *hotStandby) promoteAt(lsn string) *pgx.Conn {
	s.Helper()
	pgtest.Exec(s.T, s.admin(), "ALTER SYSTEM SET recovery_target_action = 'promote'", "ALTER SYSTEM SET recovery_target_lsn = '"+lsn+"'")
	require.NoError(s, s.server.Restart(s.Context()))
	s.conn = nil // it was cut
	s.await("the standby is a primary", func() bool { return !pgtest.Scalar[bool](s.T, s.admin(), "SELECT pg_is_in_recovery()") })
	return s.connect()
}

// TestALostKeyIsCalledAgainBeforeANewOne loses a whole run that the primary had
// published.
func TestALostKeyIsCalledAgainBeforeANewOne(t *testing.T) {
	l := publishedLab(t)
	s := l.standby("lagging")
	s.set("primary_conninfo = 'host=127.0.0.1 port=1'") // its network fails: nothing arrives from here on
	s.await("it receives nothing", func() bool {
		return pgtest.Scalar[bool](t, l.conn, "SELECT NOT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'lagging')")
	})
	stage(t, l.conn, "batched", 2)
	mustPublish(t, l.conn, "batched", 2)
	require.NoError(t, s.server.Promote(t.Context()))
	conn := s.connect()
	mustSee(t, conn, "batched", key(1))
	require.Equal(t, "published", again(t, conn, "batched", 1))
	require.Equal(t, "new", again(t, conn, "batched", 2), "the key is free: the run never was here")
	mustSee(t, conn, "batched", key(2))
}
