package sqlgen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/procs"
)

// routineData is what the templates of package procs are filled in with. Its
// names are quoted already.
type routineData struct {
	Live, LiveLiteral              string
	SchemaLiteral, TableLiteral    string
	DeleteStep, MoveBatch, Publish string
	ApplyChanges                   string
	Partitioned, IdentityAlways    bool
	KeyList                        string

	columns []string // quoted, those that can be written
	keys    []string // quoted
	sets    []string // quoted, those that an update of a row writes
	text    string   // of the whole table, for tags that must not occur in it
}

func (r *renderer) routineData() routineData {
	d := routineData{
		Live:          r.live(),
		LiveLiteral:   QuoteLiteral(r.live()),
		SchemaLiteral: QuoteLiteral(r.t.Schema),
		TableLiteral:  QuoteLiteral(r.t.Name),
		DeleteStep:    r.own(r.names.DeleteStep),
		MoveBatch:     r.own(r.names.MoveBatch),
		Publish:       r.own(r.names.Publish),
		ApplyChanges:  r.own(r.names.ApplyChanges),
		Partitioned:   r.t.Partitions != nil || r.t.hasPart(),
		KeyList:       formatSafe(quoteList(r.t.Keys)),
	}
	for _, key := range r.t.Keys {
		d.keys = append(d.keys, QuoteIdent(key))
		d.text += QuoteIdent(key) // a generated column is among no others
	}
	for _, c := range r.t.Columns {
		if c.Generated != "" {
			continue
		}
		name := QuoteIdent(c.Name)
		d.columns = append(d.columns, name)
		d.text += name
		always := c.Identity == "always"
		d.IdentityAlways = d.IdentityAlways || always
		if !slices.Contains(r.t.Keys, c.Name) && !always {
			d.sets = append(d.sets, name)
		}
	}
	return d
}

// SetList returns the assignments of an update from the row called by an alias,
// one a line, indented; empty when the table has key columns only.
func (d routineData) SetList(from string, indent int) string {
	out := make([]string, len(d.sets))
	for i, name := range d.sets {
		out[i] = fmt.Sprintf("%s = %s.%s", name, from, name)
	}
	return formatSafe(strings.Join(out, ",\n"+strings.Repeat(" ", indent)))
}

// Keys, Columns and Sets return the key columns, all columns that can be
// written, and those that an update writes, of the row called by an alias.
func (d routineData) Keys(of string) string    { return listOf(of, d.keys) }
func (d routineData) Columns(of string) string { return listOf(of, d.columns) }
func (d routineData) Sets(of string) string    { return listOf(of, d.sets) }

// FirstKey is the first key column: null where an outer join found no row.
func (d routineData) FirstKey(of string) string { return listOf(of, d.keys[:1]) }

func listOf(alias string, names []string) string { return joinOf(alias, names, ", ") }

func joinOf(alias string, names []string, separator string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = alias + "." + name
	}
	return formatSafe(strings.Join(out, separator))
}

// ColumnList returns the columns that can be written, one a line, indented.
func (d routineData) ColumnList(indent int) string {
	return formatSafe(strings.Join(d.columns, ",\n"+strings.Repeat(" ", indent)))
}

// ColumnListOf is ColumnList with an alias before each name.
func (d routineData) ColumnListOf(of string, indent int) string {
	return joinOf(of, d.columns, ",\n"+strings.Repeat(" ", indent))
}

// InFormat is the live table inside a text that format() reads.
func (d routineData) InFormat() string { return formatSafe(d.Live) }

// NotThisTable is the message, as RAISE reads it, that refuses another relation.
func (d routineData) NotThisTable() string {
	message := "% is not " + formatSafe(d.Live)
	if d.Partitioned {
		message += " or a partition of it"
	}
	return QuoteLiteral(message)
}

// Tag returns a dollar tag that does not occur in the names of the table.
func (d routineData) Tag(name string) string {
	tag := "$" + name + "$"
	for strings.Contains(d.text+d.Live, tag) {
		tag = "$" + strings.Trim(tag, "$") + "_$"
	}
	return tag
}

// formatSafe doubles the percent signs of a text that format() reads.
func formatSafe(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// routineTexts fills the templates of package procs in, by the names of their
// files.
func (r *renderer) routineTexts() (map[string]string, error) {
	templates, err := procs.TableTemplates()
	if err != nil {
		return nil, fmt.Errorf("sqlgen: %w", err)
	}
	out := map[string]string{}
	data := r.routineData()
	for _, f := range r.ownRoutines() {
		var b strings.Builder
		if err := templates.ExecuteTemplate(&b, f.file, data); err != nil {
			return nil, fmt.Errorf("sqlgen: table %s: %w", r.live(), err)
		}
		out[f.file] = strings.TrimSuffix(strings.TrimSpace(b.String()), ";")
	}
	return out, nil
}

var createRoutine = regexp.MustCompile(`(?m)^CREATE (FUNCTION|PROCEDURE) `)

// orReplace returns the statement that makes a routine what it is to be, and
// keeps the grants on it.
func orReplace(create string) string {
	at := createRoutine.FindStringIndex(create)
	return create[:at[0]] + "CREATE OR REPLACE" + create[at[0]+len("CREATE"):]
}
