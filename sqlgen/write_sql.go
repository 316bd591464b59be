package sqlgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/migrations"
)

// section is a part of a migration: statements under a heading, which may be "".
type section struct {
	heading string
	steps   []step
}

// step is one statement, and what it costs those who use the table meanwhile.
type step struct {
	sql     string
	hazards []string
}

func plainSteps(statements ...string) []step {
	out := make([]step, len(statements))
	for i, s := range statements {
		out[i] = step{sql: s}
	}
	return out
}

// creating returns what creates objects: all, or those of some kinds.
func creating(objects []object, kinds ...objectKind) []step {
	var out []step
	for _, o := range objects {
		if o.create != "" && (len(kinds) == 0 || slices.Contains(kinds, o.kind)) {
			out = append(out, step{sql: o.create})
		}
	}
	return out
}

// migrationWriter lays a goose file out.
type migrationWriter struct{ strings.Builder }

// begin begins a direction, Up or Down, of a migration that is one transaction.
func (w *migrationWriter) begin(direction string) {
	w.line("-- +goose %s\n\n%s", direction, migrations.OwnNamesFirst)
}

func (w *migrationWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// sections writes statements under their headings. Goose cuts a file at each
// line that ends with a semicolon, so that a statement which holds one, or a
// comment, is put between its annotations.
func (w *migrationWriter) sections(sections []section) {
	for _, s := range sections {
		if len(s.steps) == 0 {
			continue
		}
		w.line("")
		if s.heading != "" {
			w.line("-- %s", s.heading)
		}
		for i, step := range s.steps {
			if i > 0 && (len(step.hazards) > 0 || strings.Contains(s.steps[i-1].sql+step.sql, "\n")) {
				w.line("")
			}
			for _, hazard := range step.hazards {
				w.line("-- Hazard: %s", hazard)
			}
			if strings.Contains(step.sql, ";") || strings.Contains(step.sql, "--") || strings.Contains(step.sql, "/*") {
				w.line("-- +goose StatementBegin\n%s;\n-- +goose StatementEnd", step.sql)
			} else {
				w.line("%s;", step.sql)
			}
		}
	}
}
