package sqlgen

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
)

// gooseStatements returns the statements that goose itself runs of a migration.
func gooseStatements(t *testing.T, text string) (up, down []string) {
	t.Helper()
	var ran recorder
	db := sql.OpenDB(&ran)
	defer db.Close()
	folder := fstest.MapFS{"00001_one.sql": {Data: []byte(text)}}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, folder, goose.WithDisableVersioning(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, way := range []bool{true, false} {
		if _, err := provider.ApplyVersion(t.Context(), 1, way); err != nil {
			t.Fatalf("goose, up %v: %v in\n%s", way, err, text)
		}
		up, down, ran.statements = down, ran.statements, nil
	}
	return up, down
}

// recorder is a database that remembers what it is told and does nothing.
type recorder struct{ statements []string }

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return r, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }
func (r *recorder) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (r *recorder) Close() error                                 { return nil }
func (r *recorder) Begin() (driver.Tx, error)                    { return r, nil }
func (r *recorder) Commit() error                                { return nil }
func (r *recorder) Rollback() error                              { return nil }

func (r *recorder) ExecContext(_ context.Context, statement string, _ []driver.NamedValue) (driver.Result, error) {
	r.statements = append(r.statements, statement)
	return driver.RowsAffected(0), nil
}
