package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// ErrNotRepeatable says that the migrations cannot be applied to an empty
// database.
var ErrNotRepeatable = errors.New("the migrations cannot be applied to an empty database")

// ErrSetup says that the SQL which is run before them fails.
var ErrSetup = errors.New("the SQL for the scratch database fails")

// Options say with what a database is compared.
type Options struct {
	Folder   string          // of migrations
	Scratch  *pgx.ConnConfig // where the scratch database is made; defaults to the server of the database
	SetupSQL string          // run in it before the migrations
	Tables   []sqlgen.Table  // the definitions, for names that are taken; may be empty

	// LeftOver is told of each scratch database of an earlier check, which was
	// killed, that is dropped now. Defaults to nothing.
	LeftOver func(database string)
}

func (o Options) leftOver(database string) {
	if o.LeftOver != nil {
		o.LeftOver(database)
	}
}

// Database compares what is installed with what the migrations that are applied
// make of an empty database, and says which are not applied. It changes nothing
// in the database.
func Database(ctx context.Context, cfg *pgx.ConnConfig, o Options) ([]sqlgen.Difference, error) {
	if o.Scratch == nil {
		o.Scratch = cfg
	}
	m, err := migrate.Open(cfg, o.Folder) // connects to nothing
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	files := m.Files()
	if err := m.Close(); err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	var applied []int64
	var like locale
	var names []sqlgen.Difference
	err = readOnly(ctx, cfg, func(tx pgx.Tx) error {
		if applied, err = migrate.AppliedVersions(ctx, tx); err != nil {
			return err
		}
		if names, err = taken(ctx, tx, o.Tables); err != nil {
			return err
		}
		like, err = readLocale(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := append(unapplied(o.Folder, files, applied), names...)
	if len(applied) == 0 {
		return out, nil
	}
	var found catalogue
	expected, err := expect(ctx, like, o, slices.Max(applied), func(scratch *pgx.ConnConfig, e expectation) error {
		if err := readOnly(ctx, cfg, func(tx pgx.Tx) error {
			found, err = readCatalogue(ctx, tx, e.scope)
			return err
		}); err != nil {
			return err
		}
		return takeAlike(ctx, scratch, e.catalogue, found)
	})
	if err != nil {
		return nil, err
	}
	return append(out, compare(expected, found)...), nil
}

// unapplied compares the migrations of the folder with those that are applied.
func unapplied(folder string, files []migrate.Step, applied []int64) []sqlgen.Difference {
	var out []sqlgen.Difference
	for _, f := range files {
		if !slices.Contains(applied, f.Version) {
			out = append(out, sqlgen.Difference{Object: "migration " + f.File, Expected: "to be applied", Found: "pending"})
		}
	}
	for _, version := range applied {
		if !slices.ContainsFunc(files, func(f migrate.Step) bool { return f.Version == version }) {
			out = append(out, sqlgen.Difference{Object: fmt.Sprintf("migration %d", version), Expected: "a file in " + folder, Found: "applied, without a file"})
		}
	}
	return out
}

// expectation is what should be installed.
type expectation struct {
	catalogue
	scope scope
	made  map[string]bool // the objects that were made as the definition says that adopts them
}

// expect returns what the migrations up to a version make of an empty database,
// and calls meanwhile with it as long as that database is there.
func expect(ctx context.Context, like locale, o Options, version int64, meanwhile func(*pgx.ConnConfig, expectation) error) (expectation, error) {
	var e expectation
	roles, err := ensuredRoles(o.Folder)
	if err != nil {
		return e, err
	}
	err = withScratch(ctx, o, like, roles, func(cfg *pgx.ConnConfig) error {
		if err := fill(ctx, cfg, o, version); err != nil {
			return err
		}
		if err := readOnly(ctx, cfg, func(tx pgx.Tx) error {
			if e.scope, err = readScope(ctx, tx); err != nil {
				return err
			}
			if e.made, err = readMade(ctx, tx); err != nil {
				return err
			}
			e.catalogue, err = readCatalogue(ctx, tx, e.scope)
			return err
		}); err != nil {
			return err
		}
		return meanwhile(cfg, e)
	})
	return e, err
}
