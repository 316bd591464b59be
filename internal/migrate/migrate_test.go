package migrate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
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
