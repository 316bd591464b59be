package standby

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// silence is a proxy that can go silent: then it closes nothing, takes new
// connections, and forwards no byte in either direction.
type silence struct {
	listener net.Listener
	server   string
	silent   atomic.Bool
	woken    chan struct{} // closed at the end of the test
	pumps    sync.WaitGroup
}

func newSilence(t *testing.T, server string) *silence {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &silence{listener: listener, server: server, woken: make(chan struct{})}
	p.pumps.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.pumps.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		close(p.woken)
		listener.Close()
		p.pumps.Wait()
	})
	return p
}

func (p *silence) serve(client net.Conn) {
	defer client.Close()
	if p.silent.Load() {
		<-p.woken
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pump(client, server) })
	both.Go(func() { p.pump(server, client) })
	both.Wait()
}

func (p *silence) pump(from, to net.Conn) {
	defer to.Close()
	buffer := make([]byte, 1<<15)
	for {
		n, err := from.Read(buffer)
		if p.silent.Load() {
			<-p.woken
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// through is the connection URL of the lab's database through a proxy.
func through(t *testing.T, connection, addr string) string {
	t.Helper()
	u, err := url.Parse(connection)
	require.NoError(t, err)
	u.Host = addr
	return u.String()
}

func host(t *testing.T, connection string) string {
	t.Helper()
	u, err := url.Parse(connection)
	require.NoError(t, err)
	return u.Host
}

type row struct{ ID, Gen int }

// rebuild is a task whose second plan does act, when it is not nil.
func rebuild(mode string, gen int, act func(ctx context.Context) error) runner.Task[int, any] {
	return runner.Task[int, any]{
		Name: mode, Tables: runner.Tables{"t": "hot." + mode},
		Plans: func(context.Context, runner.Run) ([]int, error) { return []int{1, 2, 3}, nil },
		Action: func(ctx context.Context, _ any, a runner.Args[int], h runner.Handles) error {
			if a.IndexPlan == 1 {
				if err := h["t"].DropAllRows(ctx); err != nil {
					return err
				}
			}
			if a.IndexPlan == 2 && act != nil {
				if err := act(ctx); err != nil {
					return err
				}
			}
			var some []row
			for i := (a.IndexPlan-1)*rows/3 + 1; i <= a.IndexPlan*rows/3; i++ {
				some = append(some, row{i, gen})
			}
			return h["t"].Insert(ctx, runner.Rows(some))
		},
	}
}

func newRunner(t *testing.T, connection string, change func(*runner.Config)) *runner.Runner {
	t.Helper()
	cfg := &runner.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), LockTimeout: 20 * time.Millisecond, LockRetries: 10_000, LockBackoff: 10 * time.Millisecond}
	if change != nil {
		change(cfg)
	}
	pool, err := pgxpool.New(t.Context(), connection)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	r, err := runner.New(pool, cfg)
	require.NoError(t, err)
	return r
}

// heartbeat is short, and noticed what a busy machine adds: less than any wait
// for the answer of a silent network.
const heartbeat, noticed = 300 * time.Millisecond, 4 * time.Second

// TestANetworkThatGoesSilentEndsThePublishOfTheClient lets the network go silent
// in the middle of the CALL. The server goes on to the end; the client says that
// it may have, and learns it from the next call.
func TestANetworkThatGoesSilentEndsThePublishOfTheClient(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			l := readyLab(t)
			p := newSilence(t, host(t, l.url))
			blocker := pgtest.Connect(t, l.url)
			pgtest.Exec(t, blocker, "BEGIN", "LOCK hot."+mode+" IN ROW EXCLUSIVE MODE")
			r := newRunner(t, through(t, l.url, p.listener.Addr().String()), func(c *runner.Config) { c.Heartbeat = heartbeat })
			ended := make(chan error, 1)
			go func() {
				_, err := r.Publish(t.Context(), mode, key(2))
				ended <- err
			}()
			await(t, "the publish waits for a lock", func() bool {
				return pgtest.Scalar[bool](t, l.conn, "SELECT EXISTS (SELECT FROM cs9.run WHERE state = 'publishing')")
			})
			start := time.Now()
			p.silent.Store(true)
			err := <-ended
			require.Less(t, time.Since(start), 2*heartbeat+noticed)
			require.ErrorIs(t, err, runner.ErrOutcomeUnknown)
			require.ErrorContains(t, err, "the server may have gone on, to the end: call again to learn")
			pgtest.Exec(t, blocker, "COMMIT")
			await(t, "the server has published", func() bool {
				return pgtest.Scalar[bool](t, l.conn, "SELECT state = 'published' FROM cs9.run_status WHERE task = $1 AND run_key = $2", mode, key(2))
			})
			mustSee(t, l.conn, mode, key(2))
			_, err = newRunner(t, l.url, nil).Publish(t.Context(), mode, key(2))
			require.ErrorIs(t, err, runner.ErrPublished)
		})
	}
}

// TestANetworkThatGoesSilentStopsARunWhosePlansRun tries the same before the
// publish.
func TestANetworkThatGoesSilentStopsARunWhosePlansRun(t *testing.T) {
	l := newLab(t)
	p := newSilence(t, host(t, l.url))
	r := newRunner(t, through(t, l.url, p.listener.Addr().String()), func(c *runner.Config) { c.Heartbeat = heartbeat })
	var start time.Time
	_, err := rebuild("batched", 1, func(ctx context.Context) error {
		start = time.Now()
		p.silent.Store(true)
		<-ctx.Done()
		return context.Cause(ctx)
	}).Run(t.Context(), r, runner.RunKey(key(1)))
	require.Less(t, time.Since(start), 3*heartbeat+noticed)
	require.ErrorIs(t, err, runner.ErrNotOwner)
	require.ErrorContains(t, err, "did not answer within "+heartbeat.String())
	require.ErrorContains(t, err, "target_session_attrs=read-write")
	require.False(t, errors.Is(err, runner.ErrOutcomeUnknown), "nothing was published")
}

// TestSessionsAskWhetherTheOtherEndIsThere looks at the settings that make the
// server notice a host that vanished; make standby lets one vanish.
func TestSessionsAskWhetherTheOtherEndIsThere(t *testing.T) {
	l := newLab(t)
	task := rebuild("batched", 2, nil)
	act := task.Action
	task.Action = func(ctx context.Context, d any, a runner.Args[int], h runner.Handles) error {
		if a.IndexPlan == 2 {
			rows, err := h["t"].Query(ctx, squirrel.Select("concat_ws(' ', current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'))").From("(SELECT) AS cs9_one"))
			require.NoError(t, err)
			got, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.Equal(t, "10 5 3", got)
		}
		return act(ctx, d, a, h)
	}
	_, err := task.Run(t.Context(), newRunner(t, l.url, nil), runner.RunKey(key(2)))
	require.NoError(t, err)
}
