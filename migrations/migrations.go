// Package migrations holds the goose migrations of the cs9 schema: tables, then
// routines, then views. The tables and views are files here; the file of the
// routines is put together from package procs, so that a routine stands in one
// place only.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cs9gen/cs9gen/procs"
)

//go:embed *.sql
var files embed.FS

// SchemaVersion is the version of the cs9 schema that these migrations install.
const SchemaVersion = 1

// File is one goose migration.
type File struct {
	Name string // 00001_cs9_schema.sql
	SQL  string
}

// OwnNamesFirst is what each migration begins with that is one transaction.
const OwnNamesFirst = `-- A name of PostgreSQL's means PostgreSQL's, whatever stands before it in the session's search_path.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', nullif(pg_catalog.current_setting('search_path'), '')), true);`

// routinesName sorts between the file of the tables and that of the views.
const routinesName = "00002_cs9_routines.sql"

// up begins each file.
const up = "-- +goose Up\n"

// Files returns the migrations of the cs9 schema, in order.
func Files() ([]File, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("migrations: list files: %w", err)
	}
	routines, err := routinesSQL()
	if err != nil {
		return nil, err
	}
	var out []File
	for _, name := range names {
		if len(out) == 1 {
			out = append(out, File{Name: routinesName, SQL: routines})
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("migrations: read file: %w", err)
		}
		out = append(out, File{Name: name, SQL: string(text)})
	}
	for i := range out {
		out[i].SQL = strings.Replace(out[i].SQL, up, up+"\n"+OwnNamesFirst+"\n", 1)
	}
	return out, nil
}

func routinesSQL() (string, error) {
	routines, err := procs.Routines()
	if err != nil {
		return "", fmt.Errorf("migrations: %w", err)
	}
	var b strings.Builder
	b.WriteString(up)
	for _, r := range routines {
		fmt.Fprintf(&b, "\n-- +goose StatementBegin\n%s\n-- +goose StatementEnd\n%s\n", r.Create(), r.Comment())
	}
	b.WriteString("\n-- Who may call what is granted role by role; nobody may by default.\n")
	b.WriteString("REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA cs9 FROM PUBLIC;\n")
	b.WriteString("\n-- +goose Down\n")
	for i := len(routines) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "DROP ROUTINE cs9.%s;\n", routines[i].Name)
	}
	return b.String(), nil
}
