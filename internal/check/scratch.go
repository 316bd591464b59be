package check

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cs9gen/cs9gen/internal/migrate"
)

// ErrNoScratch says that the scratch database could not be made, because the
// role may not make databases, or the server is a standby.
var ErrNoScratch = errors.New("the scratch database cannot be created on this server")

// ErrOtherVersion says that the scratch database would be on another major
// version of PostgreSQL, which writes definitions in another way.
var ErrOtherVersion = errors.New("the scratch server is of another version")

// dropSeconds is how long the scratch database may take to go, even after the
// command was interrupted.
const dropSeconds = 30

// locale is what the text of a database means; a range of text may be empty in
// another one.
type locale struct {
	major                             int
	encoding, collate, ctype          string
	provider, providerLocale, version string

	// reading are the settings by which a migration's literals are read: those of
	// the database's own sessions.
	reading map[string]string
}

func readLocale(ctx context.Context, tx pgx.Tx) (locale, error) {
	var l locale
	// the columns of pg_database that hold it have other names in each version
	err := tx.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::integer / 10000, current_setting('server_version'), pg_encoding_to_char(d.encoding), d.datcollate, d.datctype,
			coalesce(to_jsonb(d) ->> 'datlocprovider', 'c'), coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', ''),
			(SELECT jsonb_object_agg(s.name, s.reset_val) FROM pg_settings AS s WHERE s.name IN ('TimeZone', 'DateStyle', 'IntervalStyle'))
		FROM pg_database AS d WHERE d.datname = current_database()`,
	).Scan(&l.major, &l.version, &l.encoding, &l.collate, &l.ctype, &l.provider, &l.providerLocale, &l.reading)
	if err != nil {
		return l, fmt.Errorf("check: read the database's locale: %w", err)
	}
	return l, nil
}

// createStatement returns what makes an empty database of this locale.
func (l locale) createStatement(name string) string {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	sql := fmt.Sprintf("CREATE DATABASE %s TEMPLATE template0 ENCODING %s LC_COLLATE %s LC_CTYPE %s", name, quote(l.encoding), quote(l.collate), quote(l.ctype))
	switch l.provider {
	case "i":
		sql += " LOCALE_PROVIDER icu ICU_LOCALE " + quote(l.providerLocale)
	case "b":
		sql += " LOCALE_PROVIDER builtin BUILTIN_LOCALE " + quote(l.providerLocale)
	}
	return sql
}

// withScratch makes an empty database on a server, calls do, and drops it, and
// with it the roles that were not there before and which the migrations make.
// Those of earlier checks that are left over go first.
func withScratch(ctx context.Context, o Options, like locale, roles []string, do func(*pgx.ConnConfig) error) (err error) {
	cfg := o.Scratch
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	end := context.WithoutCancel(ctx)
	defer conn.Close(end) //nolint:errcheck // nothing is lost with it
	var own locale
	var session int
	var newRoles []string
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if own, err = readLocale(ctx, tx); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `
			SELECT pg_backend_pid(), coalesce(array_agg(quote_ident(r)), '{}') FROM unnest($1::text[]) AS r
			WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r)`, orEmpty(roles)).Scan(&session, &newRoles)
	}); err != nil {
		return fmt.Errorf("check: look at the scratch server: %w", err)
	}
	if own.major != like.major {
		return fmt.Errorf("%w: it is PostgreSQL %s, the database is on %s", ErrOtherVersion, own.version, like.version)
	}
	dropped, err := dropLeftOver(ctx, conn)
	for _, name := range dropped {
		o.leftOver(name)
	}
	if err != nil {
		return err
	}
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		return fmt.Errorf("check: name the scratch database: %w", err)
	}
	name := scratchName(session, hex.EncodeToString(random))
	if _, err := conn.Exec(ctx, like.createStatement(name)); err != nil {
		if hasCode(err, "42501", "25006") {
			return fmt.Errorf("%w: %w", ErrNoScratch, err)
		}
		return fmt.Errorf("check: create the scratch database: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(end, dropSeconds*time.Second)
		defer cancel()
		err = errors.Join(err, dropScratch(ctx, conn, name, newRoles))
	}()
	scratch := cfg.Copy()
	scratch.Database = name
	for setting, value := range like.reading {
		scratch.RuntimeParams[setting] = value
	}
	return do(scratch)
}

func dropScratch(ctx context.Context, conn *pgx.Conn, name string, roles []string) error {
	if _, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("check: drop the scratch database %s, which is still there: %w", name, err)
	}
	for _, role := range roles {
		// somebody who uses it since keeps it
		if _, err := conn.Exec(ctx, "DROP ROLE IF EXISTS "+role); err != nil && !hasCode(err, "2BP01") {
			return fmt.Errorf("check: drop the role %s, which a migration made: %w", role, err)
		}
	}
	return nil
}

// ensuredRole finds the roles that generated migrations make where they are
// missing. They are the server's, not the database's.
var ensuredRole = regexp.MustCompile(`cs9\.ensure_role\('((?:[^']|'')+)'\)`)

func ensuredRoles(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil {
		return nil, fmt.Errorf("check: list the migrations: %w", err)
	}
	seen := map[string]bool{}
	var out []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("check: read a migration: %w", err)
		}
		for _, match := range ensuredRole.FindAllStringSubmatch(string(text), -1) {
			if role := strings.ReplaceAll(match[1], "''", "'"); !seen[role] {
				seen[role] = true
				out = append(out, role)
			}
		}
	}
	return out, nil
}

// fill makes of an empty database what the migrations up to a version make.
func fill(ctx context.Context, cfg *pgx.ConnConfig, o Options, version int64) (err error) {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("check: connect to the scratch database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if o.SetupSQL != "" {
		if _, err = conn.PgConn().Exec(ctx, o.SetupSQL).ReadAll(); err != nil {
			return fmt.Errorf("%w: %s%w", ErrSetup, lineOf(o.SetupSQL, err), err)
		}
		// what it set for its session is no setting of the migrations
		if _, err = conn.Exec(ctx, "DISCARD ALL"); err != nil {
			return fmt.Errorf("%w: %w", ErrSetup, err)
		}
	}
	m, err := migrate.Open(cfg, o.Folder)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return up(ctx, conn, m, o.Folder, version)
}

// lineOf says in which line of a text PostgreSQL found an error; nothing where it
// does not tell.
func lineOf(text string, err error) string {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Position < 1 {
		return ""
	}
	line, at := 1, int32(1) // it counts characters, from 1
	for _, c := range text {
		if at == pgErr.Position {
			break
		}
		if at++; c == '\n' {
			line++
		}
	}
	return fmt.Sprintf("line %d: ", line)
}
