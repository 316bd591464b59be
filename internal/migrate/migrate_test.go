package migrate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// folder makes a folder of migrations of a table each.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text := "-- +goose Up\nCREATE TABLE t" + name[:5] + " ();\n-- +goose Down\nDROP TABLE t" + name[:5] + ";\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func open(t *testing.T, url, dir string) *Migrator {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	m, err := Open(cfg, dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func TestStockGooseGoesOn(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	dir := folder(t, "00001_a.sql", "00002_b.sql")
	m := open(t, url, dir)
	steps, err := m.Up(t.Context())
	require.NoError(t, err)
	require.Len(t, steps, 2)

	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	stock, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS(dir))
	require.NoError(t, err)
	pending, err := stock.HasPending(t.Context())
	require.NoError(t, err)
	require.False(t, pending)
	_, err = stock.Down(t.Context())
	require.NoError(t, err)

	status, err := m.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, []State{Applied, Pending}, []State{status[0].State, status[1].State})
}

func TestAMigrationWithALowerNumberIsRefused(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	_, err := open(t, url, folder(t, "00002_b.sql")).Up(t.Context())
	require.NoError(t, err)
	_, err = open(t, url, folder(t, "00001_a.sql", "00002_b.sql")).Up(t.Context())
	var failed *Error
	require.ErrorAs(t, err, &failed)
	require.Contains(t, err.Error(), "out-of-order")
}

func TestOpenNeedsAFolderOfMigrations(t *testing.T) {
	cfg, err := pgx.ParseConfig("host=nowhere")
	require.NoError(t, err)
	for _, dir := range []string{filepath.Join(t.TempDir(), "nowhere"), t.TempDir()} {
		_, err := Open(cfg, dir)
		require.ErrorIs(t, err, ErrNoMigrations)
	}
}

func TestTheWaitForAnotherMigrationIsBoundedAndSaysWhoseItIs(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	other := pgtest.Connect(t, url+"&application_name=deployment")
	take := func(call string) {
		require.True(t, pgtest.Scalar[bool](t, other, "SELECT "+call+"($1) IS NOT NULL", lock.DefaultLockID))
	}
	take("pg_try_advisory_lock")
	pid := fmt.Sprintf("process %d of the server (deployment, user postgres", other.PgConn().PID())
	m := open(t, url, folder(t, "00001_a.sql"))
	m.Wait = 0
	_, err := m.Up(t.Context())
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, pid)
	var failed *Error
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Hint, "pg_terminate_backend")

	// it waits, says for whom once, and goes on
	m.Wait = time.Minute
	var told []string
	m.Waiting = func(session string) {
		told = append(told, session)
		take("pg_advisory_unlock")
	}
	steps, err := m.Up(t.Context())
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Len(t, told, 1)
	require.Contains(t, told[0], pid)

	// a wait ends with its context
	take("pg_try_advisory_lock")
	ctx, cancel := context.WithCancel(t.Context())
	m.Waiting = func(string) { cancel() }
	_, err = m.Down(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, int64(1), pgtest.Scalar[int64](t, other, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "no lock is left but the other's")
}
