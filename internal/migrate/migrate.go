// Package migrate applies a folder of goose migrations, and takes them back. It
// keeps goose's own table, goose_db_version, so that stock goose can go on where
// this left off. What a migration holds is decided by package sqlgen.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/cs9gen/cs9gen/internal/pgsession"
)

// ErrNoMigrations says that the folder is not there, or holds no migration.
var ErrNoMigrations = errors.New("there are no migrations")

// Migrator applies the migrations of one folder to one database.
type Migrator struct {
	// Wait is how long to wait for another migration of the database to end.
	// Defaults to [DefaultWait].
	Wait time.Duration
	// Waiting is told once whom a wait is for. Defaults to nothing.
	Waiting func(session string)
	// Said is told what a migration says beside its work: a warning of PostgreSQL, or
	// what a routine raised. Defaults to nothing.
	Said func(message Message)

	dir      string
	cfg      *pgx.ConnConfig
	db       *sql.DB
	provider *goose.Provider
	failed   *failedStatement
}

// Message is what the server says without failing.
type Message struct {
	Severity string // warning or notice
	Text     string
	Detail   string
	Hint     string
}

// hear passes on what the server says. Of notices only those that a routine raised
// count: PostgreSQL's own say what IF NOT EXISTS found.
func (m *Migrator) hear(_ *pgconn.PgConn, n *pgconn.Notice) {
	if m.Said == nil || n.SeverityUnlocalized != "WARNING" && (n.SeverityUnlocalized != "NOTICE" || n.Routine != "exec_stmt_raise") {
		return
	}
	m.Said(Message{Severity: strings.ToLower(n.SeverityUnlocalized), Text: n.Message, Detail: n.Detail, Hint: n.Hint})
}

// Step is one migration that was applied or taken back.
type Step struct {
	Version  int64
	File     string // its name in the folder
	Duration time.Duration
}

// Open reads the names of the migrations in dir. The database that cfg names is
// not connected to before it is needed. [Migrator.Close] ends it.
func Open(cfg *pgx.ConnConfig, dir string) (*Migrator, error) {
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the folder %s is not there", ErrNoMigrations, dir)
	} else if err != nil {
		return nil, fmt.Errorf("read folder of migrations: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is no folder", ErrNoMigrations, dir)
	}
	m := &Migrator{Wait: DefaultWait, dir: dir, cfg: cfg.Copy(), failed: &failedStatement{}}
	cfg = cfg.Copy()
	cfg.Tracer, cfg.OnNotice = m.failed, m.hear
	m.db = stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(settle))
	var err error
	m.provider, err = goose.NewProvider(goose.DialectPostgres, m.db, os.DirFS(dir),
		goose.WithSessionLocker(sessionLock{m}), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		if errors.Is(err, goose.ErrNoMigrations) {
			err = fmt.Errorf("%w: the folder %s holds none", ErrNoMigrations, dir)
		}
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close ends the connections to the database.
func (m *Migrator) Close() error {
	if err := m.db.Close(); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

// Up applies all migrations that are pending, each in a transaction of its own.
// After an error the steps are those that were applied, and stay. Two at once
// are safe: the second waits for the first.
func (m *Migrator) Up(ctx context.Context) ([]Step, error) {
	results, err := m.provider.Up(ctx)
	return m.outcome("apply", results, err)
}

// UpTo is Up as far as a version.
func (m *Migrator) UpTo(ctx context.Context, version int64) ([]Step, error) {
	results, err := m.provider.UpTo(ctx, version)
	return m.outcome("apply", results, err)
}

// Files returns the migrations of the folder in order of version. It does not
// look into the database.
func (m *Migrator) Files() []Step {
	var out []Step
	for _, s := range m.provider.ListSources() {
		out = append(out, Step{Version: s.Version, File: filepath.Base(s.Path)})
	}
	return out
}

// AppliedVersions returns the versions that a database says are applied, in order. Unlike
// [Migrator.Status] it does not make goose's table where that is missing.
func AppliedVersions(ctx context.Context, tx pgx.Tx) ([]int64, error) {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", goose.DefaultTablename).Scan(&there); err != nil {
		return nil, fmt.Errorf("look for goose's table: %w", err)
	}
	if !there {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `
		SELECT v.version_id
		FROM (SELECT DISTINCT ON (version_id) version_id, is_applied FROM `+goose.DefaultTablename+` ORDER BY version_id, id DESC) AS v
		WHERE v.is_applied AND v.version_id > 0
		ORDER BY v.version_id`)
	if err != nil {
		return nil, fmt.Errorf("list applied migrations: %w", err)
	}
	applied, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list applied migrations: %w", err)
	}
	return applied, nil
}

// Down takes the last migration back that was applied. There is no step when
// none is.
func (m *Migrator) Down(ctx context.Context) ([]Step, error) {
	result, err := m.provider.Down(ctx)
	if errors.Is(err, goose.ErrNoNextVersion) {
		return nil, nil
	}
	if result == nil {
		return m.outcome("take back", nil, err)
	}
	return m.outcome("take back", []*goose.MigrationResult{result}, err)
}

// DownTo takes all migrations back that are above version, the last one first.
func (m *Migrator) DownTo(ctx context.Context, version int64) ([]Step, error) {
	results, err := m.provider.DownTo(ctx, version)
	return m.outcome("take back", results, err)
}

// outcome returns the steps that were done, and the error of the one that failed.
func (m *Migrator) outcome(op string, results []*goose.MigrationResult, err error) ([]Step, error) {
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		results = partial.Applied
	}
	var steps []Step
	for _, r := range results {
		steps = append(steps, Step{Version: r.Source.Version, File: filepath.Base(r.Source.Path), Duration: r.Duration})
	}
	if err == nil {
		return steps, nil
	}
	failed := &Error{Op: op, File: m.dir, err: err}
	if partial != nil {
		failed.File = filepath.Join(m.dir, partial.Failed.Source.Path)
		failed.Line = m.failed.line(failed.File)
	}
	switch {
	case errors.Is(err, ErrBusy):
		failed.Hint = busyHint
	case errors.Is(err, pgsession.ErrPooled):
		failed.Hint = pgsession.DirectHint
	case errors.Is(err, goose.ErrVersionNotFound):
		failed.Hint = "a migration that is applied has no file in the folder: bring the file back; cs9gen migrate status names it"
	}
	return steps, failed
}

// State is whether a migration is applied.
type State string

// The states.
const (
	Pending State = "pending"
	Applied State = "applied"
	Missing State = "file missing" // applied, but not in the folder
)

// Status is one migration of the folder, or of the database.
type Status struct {
	Version   int64
	File      string // "" when it is missing
	State     State
	AppliedAt time.Time // zero when it is pending
}

// Status returns the migrations of the folder and those that were applied, in
// order of version.
func (m *Migrator) Status(ctx context.Context) ([]Status, error) {
	known, err := m.provider.Status(ctx)
	if err != nil {
		return nil, &Error{Op: "status", File: m.dir, err: err}
	}
	var out []Status
	present := map[int64]bool{0: true} // goose's own first row
	for _, k := range known {
		present[k.Source.Version] = true
		out = append(out, Status{Version: k.Source.Version, File: filepath.Base(k.Source.Path), State: State(k.State), AppliedAt: k.AppliedAt})
	}
	applied, err := m.applied(ctx)
	if err != nil {
		return nil, &Error{Op: "status", File: m.dir, err: err}
	}
	for _, a := range applied {
		if !present[a.Version] {
			present[a.Version] = true
			out = append(out, Status{Version: a.Version, State: Missing})
		}
	}
	slices.SortFunc(out, func(a, b Status) int { return int(a.Version - b.Version) })
	return out, nil
}

func (m *Migrator) applied(ctx context.Context) ([]*database.ListMigrationsResult, error) {
	store, err := database.NewStore(database.DialectPostgres, goose.DefaultTablename)
	if err != nil {
		return nil, fmt.Errorf("prepare goose's table: %w", err)
	}
	applied, err := store.ListMigrations(ctx, m.db)
	if err != nil {
		return nil, fmt.Errorf("list applied migrations: %w", err)
	}
	return applied, nil
}
