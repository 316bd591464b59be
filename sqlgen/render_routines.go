package sqlgen

import (
	"fmt"
	"strings"

	"github.com/cs9gen/cs9gen/procs"
)

// routineData is what the templates of package procs are filled in with. Its
// names are quoted already.
type routineData struct {
	Live, LiveLiteral              string
	SchemaLiteral, TableLiteral    string
	DeleteStep, MoveBatch, Publish string
	Partitioned, IdentityAlways    bool
	KeyList                        string
	SetList                        string // of ON CONFLICT; empty when the table has key columns only

	columns []string // quoted, those that can be written
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
		Partitioned:   r.t.Partitions != nil,
		KeyList:       quoteList(r.t.Keys),
	}
	keys := map[string]bool{}
	for _, key := range r.t.Keys {
		keys[key] = true
	}
	var sets []string
	for _, c := range r.t.Columns {
		if c.Generated != "" {
			continue
		}
		name := QuoteIdent(c.Name)
		d.columns = append(d.columns, name)
		d.text += name
		always := c.Identity == "always"
		d.IdentityAlways = d.IdentityAlways || always
		if !keys[c.Name] && !always {
			sets = append(sets, fmt.Sprintf("%s = excluded.%s", name, name))
		}
	}
	d.SetList = formatSafe(strings.Join(sets, ",\n                "))
	d.KeyList = formatSafe(d.KeyList)
	return d
}

// ColumnList returns the columns that can be written, one a line, indented.
func (d routineData) ColumnList(indent int) string {
	return formatSafe(strings.Join(d.columns, ",\n"+strings.Repeat(" ", indent)))
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

// routines returns the table's functions and its procedure.
func (r *renderer) routines() ([]string, error) {
	templates, err := procs.TableTemplates()
	if err != nil {
		return nil, fmt.Errorf("sqlgen: %w", err)
	}
	data := r.routineData()
	var out []string
	for _, name := range []string{"table_delete_step.sql.tmpl", "table_move_batch.sql.tmpl", "table_publish.sql.tmpl"} {
		var b strings.Builder
		if err := templates.ExecuteTemplate(&b, name, data); err != nil {
			return nil, fmt.Errorf("sqlgen: table %s: %w", r.live(), err)
		}
		out = append(out, strings.TrimSuffix(strings.TrimSpace(b.String()), ";"))
	}
	return out, nil
}
