// Package procs holds the PL/pgSQL of cs9gen: what decides how a run begins,
// resumes, is checked and is published. A fixed routine is one .sql file, named
// after it; what is generated for each table is a .sql.tmpl file.
//
// The package hands the text out and decides nothing itself: package migrations
// installs the fixed routines, package sqlgen fills the templates in.
package procs

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
)

//go:embed *.sql *.sql.tmpl
var files embed.FS

// Routine is one fixed routine of the cs9 schema.
type Routine struct {
	Name string // without the schema; the file is Name.sql
	SQL  string // header comment, CREATE and COMMENT ON, each ended by a semicolon
}

// Create is the header comment and the CREATE statement of the routine.
func (r Routine) Create() string {
	create, _ := r.split()
	return create
}

// Comment is the COMMENT ON statement of the routine.
func (r Routine) Comment() string {
	_, comment := r.split()
	return comment
}

func (r Routine) split() (create, comment string) {
	at := strings.LastIndex(r.SQL, "\nCOMMENT ON ")
	return strings.TrimSpace(r.SQL[:at]), strings.TrimSpace(r.SQL[at:])
}

// Routines returns the fixed routines, ordered by name: no routine needs another
// one to be created, only to run.
func Routines() ([]Routine, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("procs: list routines: %w", err)
	}
	routines := make([]Routine, 0, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("procs: read routine: %w", err)
		}
		routines = append(routines, Routine{Name: strings.TrimSuffix(name, ".sql"), SQL: string(text)})
	}
	return routines, nil
}

// TableTemplates returns the templates of what is generated for each table:
// table_delete_step.sql.tmpl, table_move_batch.sql.tmpl, table_apply_changes.sql.tmpl
// and table_publish.sql.tmpl.
func TableTemplates() (*template.Template, error) {
	t, err := template.New("procs").Option("missingkey=error").ParseFS(files, "*.sql.tmpl")
	if err != nil {
		return nil, fmt.Errorf("procs: parse templates: %w", err)
	}
	return t, nil
}
