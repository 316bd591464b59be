package check

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/migrate"
)

//go:embed adopted.sql
var adoptedSQL string

// adopts finds the call by which a migration adopts a table.
var adopts = regexp.MustCompile(`(?m)^SELECT cs9\.check_adopted\(`)

// takesFrom finds the sequences that defaults take from. A definition has the
// default, and nothing makes the sequence.
var takesFrom = regexp.MustCompile(`nextval\('((?:[^']|'')+)'`)

// stretch is a part of a folder's migrations, in order of version.
type stretch struct {
	until     int64    // the last version
	adopting  bool     // all adopt tables, or none does
	sequences []string // from which defaults of the adopted tables take
}

// stretches divides the migrations up to a version into those that adopt tables
// and those that do not.
func stretches(folder string, files []migrate.Step, version int64) ([]stretch, error) {
	var out []stretch
	for _, f := range files {
		if f.Version > version {
			break
		}
		text, err := os.ReadFile(filepath.Join(folder, f.File))
		if err != nil {
			return nil, fmt.Errorf("check: read a migration: %w", err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		call := adopts.FindStringIndex(up)
		adopting := call != nil
		if len(out) == 0 || out[len(out)-1].adopting != adopting {
			out = append(out, stretch{adopting: adopting})
		}
		last := &out[len(out)-1]
		last.until = f.Version
		if !adopting {
			continue
		}
		// what comes after takes from the sequences of identity columns too
		for _, match := range takesFrom.FindAllStringSubmatch(up[:call[0]], -1) {
			last.sequences = append(last.sequences, strings.ReplaceAll(match[1], "''", "'"))
		}
	}
	return out, nil
}

// up applies the migrations up to a version in the scratch database. Tables that
// they adopt, and which are not there, are made first.
func up(ctx context.Context, conn *pgx.Conn, m *migrate.Migrator, folder string, version int64) error {
	parts, err := stretches(folder, m.Files(), version)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if part.adopting {
			if err := makeAdopted(ctx, conn, part.sequences); err != nil {
				return err
			}
		}
		if _, err := m.UpTo(ctx, part.until); err != nil {
			return fmt.Errorf("%w: %w", ErrNotRepeatable, err)
		}
		if part.adopting {
			if _, err := conn.Exec(ctx, "SELECT cs9gen_check.restore()"); err != nil {
				return fmt.Errorf("%w: %w", ErrNotRepeatable, err)
			}
		}
	}
	return foreignKeysMade(ctx, conn)
}

// makeAdopted has the migrations that come next make the tables that they adopt.
func makeAdopted(ctx context.Context, conn *pgx.Conn, sequences []string) error {
	if _, err := conn.PgConn().Exec(ctx, adoptedSQL).ReadAll(); err != nil {
		return fmt.Errorf("%w: prepare the tables that it adopts: %w", ErrNotRepeatable, err)
	}
	for _, name := range sequences {
		if _, err := conn.Exec(ctx, "SELECT cs9gen_check.make_sequence($1)", name); err != nil {
			return fmt.Errorf("%w: make the sequence %s: %w", ErrNotRepeatable, name, err)
		}
	}
	return nil
}

// foreignKeysMade makes the foreign keys that still wait for a table.
func foreignKeysMade(ctx context.Context, conn *pgx.Conn) error {
	var missing []string
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		waiting, err := exists(ctx, tx, "cs9gen_check.foreign_key")
		if err != nil || !waiting {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT cs9gen_check.add_foreign_keys()"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `
			SELECT coalesce(array_agg(format('foreign key %I of %s: %s', f.name, f.relation::regclass, f.clause) ORDER BY f.relation::regclass::text, f.name), '{}')
			FROM cs9gen_check.foreign_key AS f`).Scan(&missing)
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotRepeatable, err)
	case len(missing) > 0:
		return fmt.Errorf("%w: no migration makes the table that is referenced: %w", ErrNotRepeatable, errors.New(strings.Join(missing, "; ")))
	}
	return nil
}

// readMade returns the tables that were made because a migration adopts them,
// with their partitions, and their schemas: objects of the catalogue.
func readMade(ctx context.Context, tx pgx.Tx) (map[string]bool, error) {
	recorded, err := exists(ctx, tx, "cs9gen_check.made")
	if err != nil || !recorded {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		WITH tree AS (
			SELECT coalesce(t.relid::oid, m.relation) AS oid
			FROM cs9gen_check.made AS m
			LEFT JOIN LATERAL pg_partition_tree(pg_partition_root(m.relation)) AS t ON true
		)
		SELECT format('table %I.%I', n.nspname, c.relname)
		FROM tree
		JOIN pg_class AS c ON c.oid = tree.oid
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
		UNION
		SELECT format('schema %I', m.schema_name) FROM cs9gen_check.made AS m`)
	if err != nil {
		return nil, fmt.Errorf("check: read what was made: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("check: read what was made: %w", err)
	}
	made := map[string]bool{}
	for _, name := range names {
		made[name] = true
	}
	return made, nil
}

// adopted reports whether an object is a table that was made because a migration
// adopts it, belongs to one, or is its schema. Only what adopting compares is
// known of such a table: the rest may have been there before.
func (c comparison) adopted(o object, in catalogue) bool {
	name, isRegistration := strings.CutPrefix(o.name, "registration of ")
	if isRegistration {
		return c.made["table "+name]
	}
	for ; name != ""; name = in[name].belongs {
		if c.made[name] {
			return kindOf(name) != "schema" || name == o.name
		}
	}
	return false
}

// kindOf returns the first word of an object's name.
func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, " ")
	return kind
}

// besides reports whether an object that no migration makes may be one that an
// adopted table had before. More columns or partitions would not have been adopted.
func (c comparison) besides(found object) bool {
	switch kindOf(found.name) {
	case "constraint", "index", "trigger", "sequence":
		return c.adopted(found, c.found)
	}
	return false
}

// namedFreely reports whether an object is the part that a partition has of an
// index or a key of its table: whoever made the table, PostgreSQL named it.
func (c comparison) namedFreely(expected object) bool {
	return expected.copyOf != "" && kindOf(expected.name) != "column" && c.adopted(expected, c.expected)
}

// withParameters finds the storage parameters of an index.
var withParameters = regexp.MustCompile(` WITH \([^()]*\)`)

// unsaid reports whether no definition says the aspect of an object that was
// made because one adopts it.
func (c comparison) unsaid(e object, aspect string) bool {
	if !c.adopted(e, c.expected) {
		return false
	}
	expected, isExpected := e.facts[aspect]
	switch kind := kindOf(e.name); {
	case aspect == "owner" || aspect == "adopted_grants":
		return true
	case aspect == "comment" || grantee(aspect) != "":
		return !isExpected
	case kind == "sequence":
		return true
	case kind == "index" && aspect == "definition":
		return withParameters.ReplaceAllString(expected, "") == withParameters.ReplaceAllString(c.found[e.name].facts[aspect], "")
	case kind == "column":
		return e.copyOf != "" // a partition may have a default of its own
	}
	return false
}
