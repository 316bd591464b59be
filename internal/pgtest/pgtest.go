// Package pgtest gives tests a real PostgreSQL: one server a test program,
// started on first use, and a fresh database for each test, cloned from a
// template that holds the cs9 schema. Only tests import it.
package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that goose needs
	"github.com/pressly/goose/v3"
	"go.uber.org/goleak"

	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/migrations"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// templateName is the database that new ones are cloned from.
const templateName = "cs9gen_template"

var shared struct {
	once     sync.Once
	server   *pgserver.Server
	err      error
	template sync.Once
	tplErr   error
	mu       sync.Mutex
	filled   map[string]bool // the templates of FilledDatabase
}

// Main runs the tests and then stops the server, if one was started. Call it
// from TestMain, with what must be done after the tests, if anything.
func Main(m *testing.M, after ...func(code int) int) {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	for _, f := range after {
		code = f(code)
	}
	os.Exit(code)
}

// NoGoroutineLeft is for [Main]: it fails a test program that leaves goroutines.
func NoGoroutineLeft(code int) int {
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		return max(code, 1)
	}
	return code
}

// Server returns the server of this test program.
func Server(t testing.TB) *pgserver.Server {
	t.Helper()
	shared.once.Do(func() {
		// Tests kill backends, and the server with them: what was committed must
		// be there after. Without fsync that costs next to nothing.
		shared.server, shared.err = pgserver.Start(context.Background(), &pgserver.Config{
			Settings: map[string]string{"synchronous_commit": "on"},
		})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// NewDatabase returns the URL of a fresh database that holds the cs9 schema,
// and the tables of the given definition files. It is dropped when the test has
// passed, and kept until the server stops when it has failed.
func NewDatabase(t testing.TB, definitions ...string) string {
	t.Helper()
	needTemplate(t)
	url := createDatabase(t, " TEMPLATE "+templateName)
	if len(definitions) > 0 {
		Install(t, url, definitions...)
	}
	return url
}

// FilledDatabase is [NewDatabase] for tests that begin with the same rows: fill
// makes them once, and each call with the name gets a copy. It must close its
// connections.
func FilledDatabase(t testing.TB, name string, fill func(url string), definitions ...string) string {
	t.Helper()
	needTemplate(t)
	template := templateName + "_" + name
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.filled[template] {
		server := Server(t)
		if err := execOn(server.URL("postgres"), "CREATE DATABASE "+template+" TEMPLATE "+templateName); err != nil {
			t.Fatal(err)
		}
		Install(t, server.URL(template), definitions...)
		fill(server.URL(template))
		if shared.filled == nil {
			shared.filled = map[string]bool{}
		}
		shared.filled[template] = true
	}
	return createDatabase(t, " TEMPLATE "+template)
}

// EmptyDatabase returns the URL of a fresh database without the cs9 schema.
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	return createDatabase(t, "")
}

// InstallSchema applies the migrations of the cs9 schema to an empty database,
// as the role of the URL.
func InstallSchema(t testing.TB, url string) {
	t.Helper()
	if err := installSchema(url); err != nil {
		t.Fatal(err)
	}
}

// Install generates the migrations of definition files and applies those of the
// tables to a database that holds the cs9 schema.
func Install(t testing.TB, url string, definitions ...string) {
	t.Helper()
	defs, err := sqlgen.Load(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	files, err := sqlgen.Generate(defs)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for i, f := range files {
		if f.Table != "" {
			fsys[fmt.Sprintf("%05d_%s.sql", i+1, f.Base)] = &fstest.MapFile{Data: []byte(f.SQL)}
		}
	}
	if err := up(url, fsys, goose.WithDisableVersioning(true)); err != nil {
		t.Fatal(err)
	}
}

// Connect returns a connection that is closed at the end of the test.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// Pool returns a pool that is closed at the end of the test.
func Pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Querier is a connection, a pool or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Exec runs statements, each by itself, and fails the test at the first error.
func Exec(t testing.TB, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Scalar returns the one value of a query.
func Scalar[T any](t testing.TB, q Querier, query string, args ...any) T {
	t.Helper()
	var value T
	if err := q.QueryRow(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// Psql runs psql on a database, without a start-up file, stopping at the first error.
func Psql(t testing.TB, url string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, err := findPsql(Server(t).BinDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-X", "-v", "ON_ERROR_STOP=1", "-d", url}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

// PlpgsqlCheck returns what plpgsql_check finds in the PL/pgSQL routines of
// schemas, one finding a line. Where the server does not offer the extension it
// fails the test in CI, and skips it elsewhere.
func PlpgsqlCheck(t testing.TB, conn *pgx.Conn, schemas ...string) string {
	t.Helper()
	if !Scalar[bool](t, conn, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpgsql_check')") {
		if os.Getenv("CI") != "" {
			t.Fatal("plpgsql_check is not installed")
		}
		t.Skip("plpgsql_check is not installed for this server: type make bootstrap")
	}
	Exec(t, conn, "CREATE EXTENSION plpgsql_check")
	return Scalar[string](t, conn, `
		SELECT coalesce(string_agg(format('%s line %s: %s %s', p.oid::regprocedure, c.lineno, c.message, c.detail), E'\n'), '')
		FROM pg_proc AS p
		JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
		JOIN pg_namespace AS n ON n.oid = p.pronamespace
		CROSS JOIN LATERAL plpgsql_check_function_tb(
			p.oid, relid => CASE WHEN p.prorettype = 'trigger'::regtype THEN 'cs9.run'::regclass ELSE 0 END,
			other_warnings => true, extra_warnings => true, performance_warnings => false) AS c
		WHERE n.nspname = ANY ($1)`, schemas)
}

func findPsql(binDir string) (string, error) {
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql") // the pattern is valid
	candidates := append([]string{filepath.Join(binDir, "psql"), "psql"}, installed...)
	for _, candidate := range candidates {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", errors.New("pgtest: no psql found; type: apt-get install postgresql-client")
}

func createDatabase(t testing.TB, template string) string {
	t.Helper()
	server := Server(t)
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	name := "test_" + hex.EncodeToString(random)
	if err := execOn(server.URL("postgres"), "CREATE DATABASE "+name+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("database of the failed test, there while this test program runs: %s", server.URL(name))
			return
		}
		if err := execOn(server.URL("postgres"), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return server.URL(name)
}

func execOn(url, statement string) error {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		return fmt.Errorf("pgtest: %s: %w", statement, err)
	}
	return nil
}

func needTemplate(t testing.TB) {
	t.Helper()
	server := Server(t)
	shared.template.Do(func() { shared.tplErr = makeTemplate(server) })
	if shared.tplErr != nil {
		t.Fatal(shared.tplErr)
	}
}

func makeTemplate(server *pgserver.Server) error {
	if err := execOn(server.URL("postgres"), "CREATE DATABASE "+templateName); err != nil {
		return err
	}
	return installSchema(server.URL(templateName))
}

func installSchema(url string) error {
	files, err := migrations.Files()
	if err != nil {
		return err
	}
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.Name] = &fstest.MapFile{Data: []byte(f.SQL)}
	}
	return up(url, fsys)
}

func up(url string, fsys fstest.MapFS, options ...goose.ProviderOption) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	defer db.Close() //nolint:errcheck // nothing is lost with it
	provider, err := goose.NewProvider(goose.DialectPostgres, db, fsys, options...)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	if _, err := provider.Up(context.Background()); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	return nil
}
