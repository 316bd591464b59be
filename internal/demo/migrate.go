package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// definition is the definition file of the demo's table.
//
//go:embed counts.yaml
var definition []byte

type direction int

const (
	up direction = iota
	down
)

// migrate generates the migrations and applies them all, or takes them all back.
func (s *stage) migrate(ctx context.Context, to direction) (err error) {
	dir, err := os.MkdirTemp("", "cs9gen-demo-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.generate(dir); err != nil {
		return err
	}
	db := stdlib.OpenDB(*s.pool.Config().ConnConfig)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, os.DirFS(dir),
		goose.WithTableName(schemaName+".goose_db_version"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if to == up {
		_, err = provider.Up(ctx)
	} else {
		_, err = provider.DownTo(ctx, 0)
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// generate writes the migrations into dir, as cs9gen generate does. Those of a
// cs9 schema that was there already are left out.
func (s *stage) generate(dir string) error {
	path := filepath.Join(dir, "counts.yaml")
	if err := os.WriteFile(path, definition, 0o600); err != nil {
		return fmt.Errorf("write definition: %w", err)
	}
	defs, err := sqlgen.Load(path)
	if err != nil {
		return err
	}
	files, err := sqlgen.Generate(defs)
	if err != nil {
		return err
	}
	if s.hadCS9 {
		files = slices.DeleteFunc(files, func(f sqlgen.GeneratedFile) bool { return f.Table == "" })
	}
	planned, err := sqlgen.Plan(dir, files)
	if err != nil {
		return err
	}
	_, err = sqlgen.Write(dir, planned)
	return err
}
