package standby

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/runner"
)

// node is a server of a cluster, and the connection to its database.
type node struct {
	*pgserver.Server
	url string
}

// cluster is a primary of the test's own, which can crash, and a standby, with
// the database of a lab.
func cluster(t *testing.T, l *lab) (primary, standby node) {
	t.Helper()
	start := func(server *pgserver.Server, err error) node {
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Stop()) })
		return node{server, server.URL(database(t, l.url))}
	}
	primary = start(pgtest.Server(t).StartBackup(t.Context(), nil))
	standby = start(primary.StartStandby(t.Context(), "standby", nil))
	return primary, standby
}

// both is the connection that the docs recommend: all servers, and the one that
// takes writes. The standby is named first, so that it must be passed over.
func both(t *testing.T, primary, standby node, more string) string {
	t.Helper()
	u, err := url.Parse(primary.url)
	require.NoError(t, err)
	other, err := url.Parse(standby.url)
	require.NoError(t, err)
	u.Host = other.Host + "," + u.Host
	u.RawQuery += more
	return u.String()
}

func TestARunGoesOnAfterAFailover(t *testing.T) {
	primary, standby := cluster(t, newLab(t))
	connection := both(t, primary, standby, "&target_session_attrs=read-write")
	r := newRunner(t, connection, nil)

	// without target_session_attrs the first host is the standby
	_, err := rebuild("batched", 1, nil).Run(t.Context(), newRunner(t, both(t, primary, standby, ""), nil), runner.RunKey(key(1)))
	require.ErrorIs(t, err, runner.ErrReadOnly)
	require.ErrorContains(t, err, "this server is a standby")
	require.ErrorContains(t, err, "target_session_attrs=read-write")
	_, err = rebuild("batched", 1, nil).Run(t.Context(), newRunner(t, standby.url, nil))
	require.ErrorIs(t, err, runner.ErrReadOnly)
	require.ErrorContains(t, err, "target_session_attrs=read-write")
	runs, err := newRunner(t, standby.url, nil).Runs(t.Context(), runner.RunFilter{})
	require.NoError(t, err, "runs can be listed on a standby")
	require.Empty(t, runs)

	// the primary dies while a plan runs, and the standby takes its place
	_, err = rebuild("batched", 1, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, primary.url)
		require.NoError(t, err)
		lsn := flushed(t, conn)
		admin := pgtest.Connect(t, standby.url)
		await(t, "the standby has it", func() bool {
			return pgtest.Scalar[bool](t, admin, "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", lsn)
		})
		require.Equal(t, "unknown", pgtest.Scalar[string](t, admin, "SELECT coalesce(owner_alive::text, 'unknown') FROM cs9.run_status"))
		require.NoError(t, primary.Crash())
		require.NoError(t, standby.Promote(t.Context()))
		<-ctx.Done()
		return context.Cause(ctx)
	}).Run(t.Context(), r, runner.RunKey(key(1)))
	require.ErrorIs(t, err, runner.ErrNotOwner)
	require.ErrorContains(t, err, "run again with the same key to resume")
	require.ErrorContains(t, err, "name all servers in the connection, with target_session_attrs=read-write")
	var typed *runner.Error
	require.True(t, errors.As(err, &typed))

	// the same program, the same connection, the same key
	result, err := rebuild("batched", 1, nil).Run(t.Context(), r, runner.RunKey(key(1)))
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, result.PlansRun)
	require.Equal(t, 2, result.Attempt)
	conn := pgtest.Connect(t, standby.url)
	mustSee(t, conn, "batched", key(1))
	require.False(t, strings.Contains(connection, "secret"))
}

// TestAPublishGoesOnAfterAFailover kills the primary while the CALL waits for a lock.
func TestAPublishGoesOnAfterAFailover(t *testing.T) {
	primary, standby := cluster(t, readyLab(t))
	blocker, err := pgx.Connect(t.Context(), primary.url)
	require.NoError(t, err)
	pgtest.Exec(t, blocker, "BEGIN", "LOCK hot.swap IN ROW EXCLUSIVE MODE")
	r := newRunner(t, both(t, primary, standby, "&target_session_attrs=read-write"), nil)
	ended := make(chan error, 1)
	go func() {
		_, err := r.Publish(t.Context(), "swap", key(2))
		ended <- err
	}()
	admin := pgtest.Connect(t, standby.url)
	await(t, "the standby knows that it is published", func() bool {
		return pgtest.Scalar[bool](t, admin, "SELECT EXISTS (SELECT FROM cs9.run WHERE state = 'publishing')")
	})
	require.NoError(t, primary.Crash())
	require.NoError(t, standby.Promote(t.Context()))
	err = <-ended
	require.Error(t, err)
	require.ErrorContains(t, err, "again")
	_, err = r.Publish(t.Context(), "swap", key(2))
	require.NoError(t, err)
	mustSee(t, admin, "swap", key(2))
}
