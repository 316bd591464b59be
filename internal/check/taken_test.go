package check

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// TestANameThatIsTakenIsTold before the migration fails because of it; routines
// of other arguments, and those that cs9gen made, are in nobody's way.
func TestANameThatIsTakenIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\ntables:\n  - {schema: anon, name: a, columns: [{name: id, type: INTEGER}], keys: [id]}\n  - {schema: anon, name: b, columns: [{name: id, type: INTEGER}], keys: [id]}\n"), 0o600))
	defs, err := sqlgen.Load(path)
	require.NoError(t, err)
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: pgtest.EmptyDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	pgtest.Exec(t, s.conn, "CREATE SCHEMA anon", "CREATE FUNCTION anon.b_publish(text, text, n integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
		"CREATE FUNCTION anon.a_delete_step(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
	s.generate(t, path)
	want := "routine anon.b_publish(text, text, integer): expected a free name: the migration of anon.b makes a routine of it, found one that is somebody's: rename it"
	pending := s.check(t, Options{Tables: defs.Tables})
	require.Contains(t, pending, want)
	require.Len(t, pending, 6, "and the five migrations")

	m, err := migrate.Open(s.config(t), s.folder)
	require.NoError(t, err)
	_, failed := m.Up(t.Context())
	require.NoError(t, m.Close())
	require.True(t, hasCode(failed, "42723"), failed)
	require.Equal(t, []string{"migration 00005_anon_b.sql: expected to be applied, found pending", want}, s.check(t, Options{Tables: defs.Tables})[:2], "the other table is registered")

	pgtest.Exec(t, s.conn, "DROP FUNCTION anon.b_publish", "DROP FUNCTION anon.a_delete_step(text)")
	s.up(t)
	require.Empty(t, s.check(t, Options{Tables: defs.Tables}))
}
