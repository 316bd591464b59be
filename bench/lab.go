package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// settings are those of the measured server: durable as PostgreSQL is by
// default, with checkpoints and autovacuum kept out of what is timed.
var settings = map[string]string{
	"fsync":              "on",
	"full_page_writes":   "on",
	"synchronous_commit": "on",
	"shared_buffers":     "1GB",
	"max_wal_size":       "16GB",
	"min_wal_size":       "4GB",
	"checkpoint_timeout": "1h",
	"autovacuum":         "off",
	"jit":                "on",
}

// lab is the server that everything is measured on, and the databases that
// measurements begin from.
type lab struct {
	cfg       config
	server    *pgserver.Server
	psql      string
	dir       string // holds the rows as files
	admin     *pgx.Conn
	templates map[string]bool
	clones    int
	partman   bool // pg_partman can be installed
}

// open starts the server. close ends it, and removes all that it held.
func open(ctx context.Context, cfg config) (*lab, error) {
	l := &lab{cfg: cfg, templates: map[string]bool{}}
	var err error
	if l.dir, err = os.MkdirTemp("", "cs9gen-bench-"); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	if l.server, err = pgserver.Start(ctx, &pgserver.Config{Settings: settings, OnDisk: true}); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.psql, err = findPsql(l.server.BinDir()); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.admin, err = pgx.Connect(ctx, l.server.URL("postgres")); err != nil {
		return nil, errors.Join(fmt.Errorf("connect: %w", err), l.close())
	}
	err = l.admin.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_partman')").Scan(&l.partman)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look for pg_partman: %w", err), l.close())
	}
	return l, nil
}

func (l *lab) close() error {
	var errs []error
	if l.admin != nil {
		errs = append(errs, l.admin.Close(context.Background()))
	}
	if l.server != nil {
		errs = append(errs, l.server.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(l.dir))...)
}

func findPsql(binDir string) (string, error) {
	installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql") // the pattern is valid
	for _, candidate := range append([]string{filepath.Join(binDir, "psql"), "psql"}, installed...) {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no psql; type: apt-get install postgresql-client")
}

// template makes a database once, with build, for clones to begin from.
func (l *lab) template(ctx context.Context, name, from string, build func(ctx context.Context, database string) error) error {
	if l.templates[name] {
		return nil
	}
	began := time.Now()
	if err := l.copyDatabase(ctx, from, name); err != nil {
		return err
	}
	if err := build(ctx, name); err != nil {
		return fmt.Errorf("make template %s: %w", name, err)
	}
	l.templates[name] = true
	l.cfg.say("made the template %s in %s", name, time.Since(began).Round(time.Millisecond))
	return nil
}

// clone makes a database like a template. drop removes it.
func (l *lab) clone(ctx context.Context, template string) (database string, drop func() error, err error) {
	l.clones++
	database = fmt.Sprintf("bench_%d", l.clones)
	if err := l.copyDatabase(ctx, template, database); err != nil {
		return "", nil, err
	}
	return database, func() error {
		if _, err := l.admin.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+database+" WITH (FORCE)"); err != nil {
			return fmt.Errorf("drop database: %w", err)
		}
		return nil
	}, nil
}

func (l *lab) copyDatabase(ctx context.Context, template, database string) error {
	statement := "CREATE DATABASE " + database + " TEMPLATE " + template
	if l.server.Version() >= 15 {
		statement += " STRATEGY FILE_COPY" // as before 15: the copy writes no WAL
	}
	if _, err := l.admin.Exec(ctx, statement); err != nil {
		return fmt.Errorf("copy database %s: %w", template, err)
	}
	return nil
}

// with calls do with a connection to a database.
func (l *lab) with(ctx context.Context, database string, do func(conn *pgx.Conn) error) (err error) {
	conn, err := pgx.Connect(ctx, l.server.URL(database))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return do(conn)
}

// execute runs statements, each by itself.
func execute(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// runPsql runs one command of psql on a database.
func (l *lab) runPsql(ctx context.Context, database, command string) error {
	cmd := exec.CommandContext(ctx, l.psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", l.server.URL(database), "-c", command) //nolint:gosec // it is psql
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("psql: %s: %w\n%s", command, err, out.String())
	}
	return nil
}

// install makes the cs9 schema and the tables of definition files, by the
// migrations that are generated for them.
func (l *lab) install(ctx context.Context, database string, names ...string) error {
	var paths []string
	for _, name := range names {
		path, err := l.definition(name)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return l.installFiles(ctx, database, paths...)
}

func (l *lab) installFiles(ctx context.Context, database string, paths ...string) (err error) {
	defs, err := sqlgen.Load(paths...)
	if err != nil {
		return fmt.Errorf("load definitions: %w", err)
	}
	files, err := sqlgen.Generate(defs)
	if err != nil {
		return fmt.Errorf("generate migrations: %w", err)
	}
	dir, err := os.MkdirTemp(l.dir, "migrations-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	planned, err := sqlgen.Plan(dir, files)
	if err != nil {
		return fmt.Errorf("plan migrations: %w", err)
	}
	if _, err := sqlgen.Write(dir, planned); err != nil {
		return fmt.Errorf("write migrations: %w", err)
	}
	cfg, err := pgx.ParseConfig(l.server.URL(database))
	if err != nil {
		return fmt.Errorf("read URL: %w", err)
	}
	m, err := migrate.Open(cfg, dir)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if _, err := m.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// sample is what one timed piece took.
type sample struct {
	seconds float64
	wal     float64            // MB written
	parts   map[string]float64 // more that was measured, by name
}

// timed does a piece of work on a database, after a checkpoint, and returns
// what it took: until the call returned, its last commit on disk.
func (l *lab) timed(ctx context.Context, do func() error) (s sample, err error) {
	const lsn = "SELECT pg_current_wal_lsn()::text"
	var before, after string
	if err := execute(ctx, l.admin, "CHECKPOINT"); err != nil {
		return s, err
	}
	if err := l.admin.QueryRow(ctx, lsn).Scan(&before); err != nil {
		return s, fmt.Errorf("read the WAL's position: %w", err)
	}
	began := time.Now()
	if err := do(); err != nil {
		return s, err
	}
	s.seconds = time.Since(began).Seconds()
	if err := l.admin.QueryRow(ctx, lsn).Scan(&after); err != nil {
		return s, fmt.Errorf("read the WAL's position: %w", err)
	}
	err = l.admin.QueryRow(ctx, "SELECT pg_wal_lsn_diff($1::pg_lsn, $2::pg_lsn)::float8 / 1e6", after, before).Scan(&s.wal)
	if err != nil {
		return s, fmt.Errorf("compare the WAL's positions: %w", err)
	}
	return s, nil
}

// holds checks that a table holds the rows of a dataset, and is told apart
// from one that holds others by the sum of n.
func holds(ctx context.Context, conn *pgx.Conn, table string, d dataset) error {
	var count, sum int64
	if err := conn.QueryRow(ctx, "SELECT count(*), coalesce(sum(n), 0) FROM "+table).Scan(&count, &sum); err != nil {
		return fmt.Errorf("check %s: %w", table, err)
	}
	if want := d.sum(); count != int64(d.rows) || sum != want {
		return fmt.Errorf("%s holds %d rows with the sum %d, and should hold %d with %d", table, count, sum, d.rows, want)
	}
	return nil
}
