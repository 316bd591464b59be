package sqlgen_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const validDir = "../testdata/definitions/valid"

// definition is one definition file of testdata, with its rows.
type definition struct {
	name     string
	table    *sqlgen.Table
	files    []sqlgen.GeneratedFile
	old, new string // INSERT statements, %s standing for the table
}

// modes are the publish modes that a run of the table can have.
func (d definition) modes() []string {
	modes := []string{"batched", "atomic"}
	if d.table.Partitions != nil || strings.HasPrefix(d.table.Publish, "swap") {
		modes = append(modes, "swap")
	}
	return modes
}

func (d definition) live() string { return sqlgen.Qualified(d.table.Schema, d.table.Name) }

// TestPipeline takes each definition of testdata from its file to a published
// run that is killed after each commit.
func TestPipeline(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(validDir, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadDefinition(t, path, name)
			t.Run("golden SQL", func(t *testing.T) { testGolden(t, d) })
			t.Run("generating twice changes nothing", func(t *testing.T) { testTwice(t, path, d) })
			t.Run("up, down, up", func(t *testing.T) { testUpDownUp(t, d) })
			t.Run("plpgsql_check", func(t *testing.T) { testPlpgsqlCheck(t, d) })
			for _, mode := range d.modes() {
				t.Run("published "+mode+" equals plain SQL", func(t *testing.T) { testPublished(t, d, mode) })
			}
		})
	}
}

func loadDefinition(t *testing.T, path, name string) definition {
	t.Helper()
	defs, err := sqlgen.Load(path)
	require.NoError(t, err)
	require.Len(t, defs.Tables, 1)
	files, err := sqlgen.Generate(defs)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(validDir, name+".rows.sql"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "-- old\n")
	require.True(t, ok)
	oldRows, newRows, ok := strings.Cut(rest, "-- new\n")
	require.True(t, ok)
	return definition{name, &defs.Tables[0], files, oldRows, newRows}
}

func testGolden(t *testing.T, d definition) {
	path := filepath.Join("../testdata/definitions/golden", d.name+".sql")
	got := d.files[len(d.files)-1].SQL
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make golden writes it")
	require.Empty(t, cmp.Diff(string(want), got), "make golden writes it anew")
}

func testTwice(t *testing.T, path string, d definition) {
	dir := filepath.Join(t.TempDir(), "migrations")
	written := write(t, dir, d.files)
	require.Len(t, written, 4)
	defs, err := sqlgen.Load(path)
	require.NoError(t, err)
	again, err := sqlgen.Generate(defs)
	require.NoError(t, err)
	require.Equal(t, d.files, again)
	require.Empty(t, write(t, dir, again))
}

func write(t *testing.T, dir string, files []sqlgen.GeneratedFile) []string {
	t.Helper()
	planned, err := sqlgen.Plan(dir, files)
	require.NoError(t, err)
	written, err := sqlgen.Write(dir, planned)
	require.NoError(t, err)
	return written
}

func newProvider(t *testing.T, url string, d definition) *goose.Provider {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, d.files)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	provider, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS(dir))
	require.NoError(t, err)
	return provider
}

func testUpDownUp(t *testing.T, d definition) {
	url := pgtest.EmptyDatabase(t)
	provider := newProvider(t, url, d)
	conn := pgtest.Connect(t, url)
	empty := catalogue(t, conn)
	_, err := provider.Up(t.Context())
	require.NoError(t, err)
	checkCatalogue(t, conn, d)
	installed := catalogue(t, conn)
	_, err = provider.DownTo(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, empty, catalogue(t, conn))
	_, err = provider.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, installed, catalogue(t, conn))
}

// catalogue lists every relation, routine, trigger and constraint that is not
// PostgreSQL's or goose's own.
func catalogue(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return pgtest.Scalar[string](t, conn, `
		SELECT coalesce(string_agg(x, E'\n' ORDER BY x), '') FROM (
			SELECT format('%s %s.%s', c.relkind, n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
			UNION ALL
			SELECT format('routine %s.%s %s', n.nspname, p.proname, md5(pg_get_functiondef(p.oid)))
			FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE p.prokind IN ('f', 'p')
			UNION ALL
			SELECT format('constraint %s %s', c.conrelid::regclass, pg_get_constraintdef(c.oid)) FROM pg_constraint AS c
			UNION ALL
			SELECT format('trigger %s', pg_get_triggerdef(t.oid)) FROM pg_trigger AS t WHERE NOT t.tgisinternal
		) AS o (x)
		WHERE x !~ '(pg_catalog|information_schema|pg_toast|goose_db_version)'`)
}

func testPlpgsqlCheck(t *testing.T, d definition) {
	url := pgtest.EmptyDatabase(t)
	_, err := newProvider(t, url, d).Up(t.Context())
	require.NoError(t, err)
	conn := pgtest.Connect(t, url)
	require.Empty(t, pgtest.PlpgsqlCheck(t, conn, d.table.Schema))
	require.Equal(t, 4, pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM pg_proc WHERE pronamespace = $1::regnamespace",
		sqlgen.QuoteIdent(d.table.Schema)))
}

// testPublished stages the new rows in two plans, kills the publish after each
// commit, and compares the live table with the same work in plain SQL.
func testPublished(t *testing.T, d definition, mode string) {
	for killAt := 1; ; killAt++ {
		url := pgtest.NewDatabase(t, filepath.Join(validDir, d.name+".yaml"))
		conn := pgtest.Connect(t, url)
		want := plainSQL(t, conn, d)
		pgtest.Exec(t, conn, strings.ReplaceAll(d.old, "%s", d.live()))
		victim, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		stage(t, victim, d, mode)
		killed := publishUntil(t, victim, killAt)
		pid := int(victim.PgConn().PID())
		_ = victim.Close(context.Background())
		pgtest.Exec(t, conn, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", pid))
		if pgtest.Scalar[string](t, conn, "SELECT state FROM cs9.run_status") != "published" { // what follows that is for the planner alone
			require.True(t, killed)
			pgtest.Exec(t, conn, "CALL cs9.publish('t', 'k', 13)")
		}
		require.Equal(t, want, rows(t, conn, d), "killed after commit %d", killAt)
		require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM pg_tables WHERE schemaname = 'cs9_staging'"))
		if !killed {
			require.GreaterOrEqual(t, killAt, 4)
			// what identity columns and sequences give next does not collide
			pgtest.Exec(t, conn, "BEGIN", "DELETE FROM "+d.live(), strings.ReplaceAll(d.old, "%s", d.live()), "ROLLBACK")
			return
		}
	}
}

// plainSQL does the run's work without cs9gen, and undoes it.
func plainSQL(t *testing.T, conn *pgx.Conn, d definition) string {
	t.Helper()
	pgtest.Exec(t, conn, "BEGIN", "SET CONSTRAINTS ALL IMMEDIATE", strings.ReplaceAll(d.old, "%s", d.live()), "TRUNCATE "+d.live(), strings.ReplaceAll(d.new, "%s", d.live()))
	want := rows(t, conn, d)
	pgtest.Exec(t, conn, "ROLLBACK")
	require.NotEmpty(t, want)
	return want
}

// rows is the live table as text, but for identity columns, whose values a
// sequence gives.
func rows(t *testing.T, conn *pgx.Conn, d definition) string {
	t.Helper()
	var columns []string
	for _, c := range d.table.Columns {
		if c.Identity == "" {
			columns = append(columns, sqlgen.QuoteIdent(c.Name))
		}
	}
	return pgtest.Scalar[string](t, conn, fmt.Sprintf(
		`SELECT coalesce(string_agg(r::text, E'\n' ORDER BY r::text COLLATE "C"), '') FROM (SELECT %s FROM %s) AS r`, strings.Join(columns, ", "), d.live()))
}

func stage(t *testing.T, conn *pgx.Conn, d definition, mode string) {
	t.Helper()
	var run int64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT run_id FROM cs9.begin_run('t', 'k', ARRAY[$1::text], '[1, 2]', p_publish_mode => $2)", d.live(), mode).Scan(&run))
	require.True(t, pgtest.Scalar[bool](t, conn, "SELECT cs9.begin_plan($1, 1, 1)", run))
	live := sqlgen.QuoteLiteral(d.live())
	pgtest.Exec(t, conn, "SELECT cs9.drop_all_rows("+live+")", fmt.Sprintf("SELECT cs9.finish_plan(%d, 1, 1)", run))
	require.True(t, pgtest.Scalar[bool](t, conn, "SELECT cs9.begin_plan($1, 2, 1)", run))
	staged := pgtest.Scalar[string](t, conn, "SELECT cs9.staging_table($1, $2)", run, d.live())
	pgtest.Exec(t, conn, strings.ReplaceAll(d.new, "%s", staged),
		fmt.Sprintf("SELECT cs9.finish_plan(%d, 2, 1)", run), fmt.Sprintf("SELECT cs9.finish_run(%d, 1)", run))
}

// publishUntil publishes by the calls that cs9.publish makes, each a
// transaction, and stops after n commits; false: it came to the end.
func publishUntil(t *testing.T, conn *pgx.Conn, n int) bool {
	t.Helper()
	run := pgtest.Scalar[int64](t, conn, "SELECT cs9.begin_publish('t', 'k', NULL, 13)")
	for range n - 1 {
		if !pgtest.Scalar[bool](t, conn, "SELECT more FROM cs9.publish_next($1, NULL, 13, 0)", run) {
			return false
		}
	}
	return true
}

// TestStockGooseTakesTheFiles runs the goose command itself, as a user's CI does.
func TestStockGooseTakesTheFiles(t *testing.T) {
	t.Parallel()
	defs, err := sqlgen.Load(validDir)
	require.NoError(t, err)
	files, err := sqlgen.Generate(defs)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "migrations")
	write(t, dir, files)
	program := installGoose(t)

	url := pgtest.EmptyDatabase(t)
	conn := pgtest.Connect(t, url)
	for _, args := range [][]string{{"up"}, {"down-to", "0"}, {"up"}, {"status"}} {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-dir", dir, "postgres", url}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	require.Equal(t, len(defs.Tables), pgtest.Scalar[int](t, conn, "SELECT count(*)::integer FROM cs9.table_definition"))
}

// installGoose builds the goose command of the version that go.mod names, with
// the PostgreSQL driver alone.
func installGoose(t *testing.T) string {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "github.com/pressly/goose/v3").Output()
	require.NoError(t, err)
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install",
		"-tags", "no_clickhouse,no_libsql,no_mssql,no_mysql,no_sqlite3,no_vertica,no_ydb",
		"github.com/pressly/goose/v3/cmd/goose@"+strings.TrimSpace(string(version)))
	install.Dir = dir
	install.Env = append(os.Environ(), "GOBIN="+dir)
	out, err := install.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "goose")
}
