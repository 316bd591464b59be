package check

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// killed makes what a check leaves that is killed, in another program, while its
// scratch database is there.
func (s *site) killed(t *testing.T) string {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), s.config(t))
	require.NoError(t, err)
	name := scratchName(int(conn.PgConn().PID()), "0123456789ab")
	pgtest.Exec(t, conn, "CREATE DATABASE "+name)
	require.NoError(t, conn.Close(t.Context()))
	for gone := false; !gone; {
		gone = pgtest.Scalar[bool](t, s.conn, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", conn.PgConn().PID())
	}
	return name
}

// TestWhatAKilledCheckLeftGoesWithTheNext, but not while somebody may use it.
func TestWhatAKilledCheckLeftGoesWithTheNext(t *testing.T) {
	s := newSite(t, definitions)
	name := s.killed(t)
	pgtest.Exec(t, s.conn, "CREATE DATABASE cs9gen_check_of_mine")
	inIt := s.config(t)
	inIt.Database = name
	user, err := pgx.ConnectConfig(t.Context(), inIt)
	require.NoError(t, err)

	dropped := func() []string {
		var out []string
		require.Empty(t, s.check(t, Options{LeftOver: func(database string) { out = append(out, database) }}))
		return out
	}
	require.Empty(t, dropped(), "somebody is connected to it")
	require.NoError(t, user.Close(t.Context()))
	for gone := false; !gone; {
		gone = pgtest.Scalar[bool](t, s.conn, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = $1)", name)
	}
	require.Equal(t, []string{name}, dropped())
	require.Empty(t, dropped())
	require.Equal(t, 1, scratchDatabases(t, s), "one of another name is somebody's")
	pgtest.Exec(t, s.conn, "DROP DATABASE cs9gen_check_of_mine")
}

// TestOfAnotherRoleNothingIsDropped, for it could not be.
func TestOfAnotherRoleNothingIsDropped(t *testing.T) {
	s := newSite(t, definitions)
	name := s.killed(t)
	pgtest.Exec(t, s.conn, "CREATE ROLE check_dropper LOGIN CREATEDB PASSWORD 'drops'")
	cfg := s.config(t)
	cfg.User, cfg.Password = "check_dropper", "drops"
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is lost with it
	dropped, err := dropLeftOver(t.Context(), conn)
	require.NoError(t, err)
	require.Empty(t, dropped)
	dropped, err = dropLeftOver(t.Context(), s.conn)
	require.NoError(t, err)
	require.Equal(t, []string{name}, dropped)
}

// TestChecksAtTheSameTimeLeaveEachOtherAlone: none takes the scratch database of
// another one for left over, when it was just created or at any time after.
func TestChecksAtTheSameTimeLeaveEachOtherAlone(t *testing.T) {
	s := newSite(t, definitions)
	like := locale{}
	require.NoError(t, readOnly(t.Context(), s.config(t), func(tx pgx.Tx) (err error) { like, err = readLocale(t.Context(), tx); return err }))
	o := Options{Scratch: s.config(t), LeftOver: func(database string) { t.Error(database) }}
	err := withScratch(t.Context(), o, like, nil, func(*pgx.ConnConfig) error {
		// nobody is connected to the first one
		return withScratch(t.Context(), o, like, nil, func(cfg *pgx.ConnConfig) error { return readOnly(t.Context(), cfg, func(pgx.Tx) error { return nil }) })
	})
	require.NoError(t, err)

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			found, err := Database(t.Context(), config(t, s.url), Options{Folder: s.folder, LeftOver: func(database string) { t.Error(database) }})
			if err != nil || len(found) > 0 {
				t.Error(err, lines(found))
			}
		})
	}
	all.Wait()
	require.Zero(t, scratchDatabases(t, s))
}
