package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// unsettled is a definition of which PostgreSQL prints much otherwise once it was
// read; the check of partition values, which is cs9gen's own, too.
const unsettled = `
version: 1
tables:
  - schema: m
    name: t
    columns: [{name: v, type: varchar(5)}, {name: n, type: integer}, {name: w, type: varchar, default: "CASE WHEN 'a'::varchar IN ('a', 'b') THEN 'x' END"}, {name: g, type: boolean, generated: "v IN ('a', 'b')"}]
    keys: [v]
    indexes: {some: {columns: [n], where: "v IN ('a', 'b')"}}
    checks: {listed: "v IN ('a', 'b', 'c')", near: n BETWEEN 1 AND 5 AND n <> 3}
    partitions: {column: v, values: [a, b]}
`

// A restored database is as its migrations say.
func TestARestoredDatabaseIsAsExpected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(path, []byte(unsettled), 0o600))
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: pgtest.EmptyDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	s.generate(t, path)
	s.up(t)
	require.Empty(t, s.check(t, Options{}))

	dump := filepath.Join(t.TempDir(), "dump.sql")
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--dbname="+s.url, "--file="+dump).CombinedOutput()
	if strings.Contains(string(out), "server version mismatch") {
		t.Skip("pg_dump is of another version than the server")
	}
	require.NoError(t, err, string(out))
	s.url = pgtest.EmptyDatabase(t)
	_, stderr, err := pgtest.Psql(t, s.url, "-v", "ON_ERROR_STOP=1", "-q", "-f", dump)
	require.NoError(t, err, stderr)
	s.conn = pgtest.Connect(t, s.url)
	require.Empty(t, s.check(t, Options{}))

	pgtest.Exec(t, s.conn, "ALTER TABLE m.t DROP CONSTRAINT t_listed_check, ADD CONSTRAINT t_listed_check CHECK (v IN ('a', 'b', 'd'))")
	differences := s.check(t, Options{})
	require.Len(t, differences, 1)
	require.Contains(t, fmt.Sprint(differences), "t_listed_check")
}

// A table that is adopted by what PostgreSQL prints of it is as expected.
func TestAnAdoptedTableIsAsExpectedWhateverItPrints(t *testing.T) {
	s := adoptedSite(t, `CREATE SCHEMA m; CREATE DOMAIN m.word AS varchar(5);
		CREATE TABLE m.t (id integer PRIMARY KEY, v varchar(5), d m.word, n integer, CHECK (v IN ('a', 'b')), CHECK (d IN ('a', 'b')), CHECK (n BETWEEN 1 AND 5 AND id > 0));
		CREATE INDEX ON m.t (n) WHERE v IN ('a', 'b')`, "m")
	require.Empty(t, s.check(t, Options{SetupSQL: "CREATE SCHEMA m; CREATE DOMAIN m.word AS varchar(5)"}))
}
