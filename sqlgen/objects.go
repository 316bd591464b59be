package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// objectKind says what an [object] is.
type objectKind int

const (
	primaryKey objectKind = iota
	part
	uniqueConstraint
	checkConstraint
	partition
	index
	foreignKey
	sequence
	template
	templateTrigger
	routine
	revoke
	comment
	role
	grant
)

// object is one thing that belongs to a table besides its columns. The file that
// creates a table and the one that changes it are made of the same objects.
type object struct {
	kind    objectKind
	id      string   // among those of its kind; keeps when the table is renamed
	name    string   // in the table's schema, or in the table; "" for what has none
	create  string   // a statement
	drop    string   // a statement; "" where nothing is to be done
	inline  string   // instead of create, a line of CREATE TABLE
	attach  string   // of a partition: a statement that puts it back under other bounds
	detach  string   // of a partition: a statement that takes it out, with its rows
	beside  string   // of a partition: the name of the default one beside it, or ""
	columns []string // the columns it is made of: it goes when one of them does
	adopted string   // instead of create, for the migration that adopts a table
	unique  bool     // an index that is unique
	on      string   // what it says something about, of onTemplate and onRoutines
}

// What an object is about, when that is not the live table.
const (
	onTemplate = "template"
	onRoutines = "routines"
)

// same reports whether two objects are one, before and after a change.
func (o object) same(p object) bool { return o.kind == p.kind && o.id == p.id }

// key tells the objects of one table apart; it is the same before and after a
// change.
func (o object) key() string { return fmt.Sprintf("%d\x00%s", o.kind, o.id) }

// constraint returns a constraint of the live table, or of its part.
func (r *renderer) constraint(kind objectKind, id, table, name, what string, columns []string) object {
	line := fmt.Sprintf("CONSTRAINT %s %s", QuoteIdent(name), what)
	o := object{
		kind: kind, id: id, name: name, inline: line, columns: columns,
		create: fmt.Sprintf("ALTER TABLE %s\n    ADD %s", table, line),
		drop:   fmt.Sprintf("ALTER TABLE %s\n    DROP CONSTRAINT %s", table, QuoteIdent(name)),
	}
	if table != r.live() {
		o.inline = ""
	}
	return o
}

// liveObjects returns what belongs to the live table, in the order in which it
// is created.
func (r *renderer) liveObjects() []object {
	t, n := r.t, r.names
	out := []object{r.constraint(primaryKey, "", r.live(), n.PrimaryKey, fmt.Sprintf("PRIMARY KEY (%s)", quoteList(t.Keys)), t.Keys)}
	if t.hasPart() {
		out = append(out, object{kind: part, name: n.Part, create: fmt.Sprintf("CREATE TABLE %s\n    PARTITION OF %s DEFAULT", r.own(n.Part), r.live())})
	}
	for i, unique := range t.Unique {
		u := unique.Value
		out = append(out, r.constraint(uniqueConstraint, unique.Name, r.uniqueOn(u.Columns), n.Unique[i].Value, u.clause(), slices.Concat(u.Columns, u.Include)))
	}
	for i, check := range t.Checks {
		expression := check.Value.Expression
		out = append(out, r.constraint(checkConstraint, check.Name, r.live(), n.Checks[i].Value, fmt.Sprintf("CHECK (%s)", expression), t.mentioned(expression)))
	}
	for _, p := range t.partitionTables() {
		out = append(out, r.partition(p))
	}
	for i, x := range t.Indexes {
		out = append(out, r.index(x, n.Indexes[i].Value))
	}
	for i, f := range t.ForeignKeys {
		out = append(out, r.foreignKey(f, n.ForeignKeys[i].Value))
	}
	for _, s := range n.Sequences {
		out = append(out, object{kind: sequence, id: s.Name, name: s.Value})
	}
	return out
}

// templateObjects returns the empty table that each run's own table is a copy
// of: the columns and checks of the live table, the control columns, and no
// index.
func (r *renderer) templateObjects() []object {
	lines := r.columnLines(r.stagedColumn)
	lines = append(lines, controlColumns...)
	for _, o := range r.liveObjects() {
		if o.kind == checkConstraint {
			lines = append(lines, o.inline)
		}
	}
	if routable := takenBy(r.t.Partitions); routable != "" {
		lines = append(lines, fmt.Sprintf("CONSTRAINT %s CHECK (%s)", QuoteIdent(r.names.RoutableCheck), routable))
	}
	lines = append(lines, `CONSTRAINT cs9_op_check CHECK (cs9_op IN ('i', 'u'))`)
	staging := r.own(r.names.Staging)
	return []object{
		{
			kind: template, name: r.names.Staging,
			create: fmt.Sprintf("CREATE TABLE %s (\n    %s\n)", staging, strings.Join(lines, ",\n    ")),
			drop:   "DROP TABLE " + staging,
		},
		{
			kind: templateTrigger, name: r.names.Guard,
			create: fmt.Sprintf("CREATE TRIGGER %s\n    BEFORE INSERT ON %s\n    FOR EACH ROW EXECUTE FUNCTION cs9.guard_template()",
				QuoteIdent(r.names.Guard), staging),
		},
	}
}

// ofRoutine is what the generator knows of a routine besides its text.
type ofRoutine struct{ kind, name, arguments, file, comment string }

func (r *renderer) ownRoutines() []ofRoutine {
	n, live := r.names, r.live()
	return []ofRoutine{
		{"FUNCTION", n.DeleteStep, "(text, text)", "table_delete_step.sql.tmpl", "cs9gen: applies one delete to " + live},
		{"FUNCTION", n.MoveBatch, "(text, tid, tid, integer, boolean)", "table_move_batch.sql.tmpl", "cs9gen: moves one batch of staged rows into " + live},
		{"FUNCTION", n.ApplyChanges, "(text, text, boolean)", "table_apply_changes.sql.tmpl", "cs9gen: makes " + live + " what the staged rows say, touching only rows that differ"},
		{"PROCEDURE", n.Publish, "(text, text, integer)", "table_publish.sql.tmpl", "cs9gen: publishes what a run staged for " + live},
	}
}

// Routine is a function or procedure that cs9gen makes for a table.
type Routine struct {
	Name      string // in the table's schema
	Arguments string // the types, as PostgreSQL writes them: text, text, integer
}

// RoutinesOf returns the routines of a table. Whoever has another one of that
// name and these arguments must rename it before the table is migrated.
func RoutinesOf(t *Table) []Routine {
	var out []Routine
	for _, f := range newRenderer(t).ownRoutines() {
		out = append(out, Routine{f.name, strings.Trim(f.arguments, "()")})
	}
	return out
}

// signature returns a routine as DROP, COMMENT ON and GRANT name it.
func (r *renderer) signature(f ofRoutine) string {
	return fmt.Sprintf("%s %s%s", f.kind, r.own(f.name), f.arguments)
}

// routineObjects returns the table's functions and its procedure, and what takes
// them away from everybody.
func (r *renderer) routineObjects() ([]object, error) {
	texts, err := r.routineTexts()
	if err != nil {
		return nil, err
	}
	var out, revokes []object
	for _, f := range r.ownRoutines() {
		out = append(out, object{kind: routine, id: f.file, name: f.name, create: texts[f.file], drop: "DROP " + r.signature(f)})
		revokes = append(revokes, object{kind: revoke, id: f.file, create: fmt.Sprintf("REVOKE EXECUTE ON %s FROM PUBLIC", r.signature(f))})
	}
	return append(out, revokes...), nil
}

// commentObjects returns the comments of everything that is the table's.
func (r *renderer) commentObjects() []object {
	var out []object
	say := func(id, what, text string, columns ...string) {
		if text != "" {
			out = append(out, object{
				kind: comment, id: id, columns: columns,
				create: fmt.Sprintf("COMMENT ON %s IS %s", what, QuoteLiteral(text)),
				drop:   fmt.Sprintf("COMMENT ON %s IS NULL", what),
			})
		}
	}
	say("table", "TABLE "+r.live(), r.t.Comment)
	for _, c := range r.t.Columns {
		say("column "+c.Name, "COLUMN "+r.live()+"."+QuoteIdent(c.Name), c.Comment, c.Name)
	}
	say("template", "TABLE "+r.own(r.names.Staging), "cs9gen: staging template of "+r.live()+", which stays empty: each run writes to a copy")
	out[len(out)-1].on = onTemplate
	for _, f := range r.ownRoutines() {
		say("routine "+f.file, r.signature(f), f.comment)
		out[len(out)-1].on = onRoutines
	}
	return out
}

// mentioned returns the columns of the table that an SQL expression names.
func (t *Table) mentioned(sql string) []string {
	tokens, _ := lex(sql)
	var out []string
	for _, c := range t.Columns {
		if slices.ContainsFunc(tokens, func(k token) bool { return k.names(c.Name) }) {
			out = append(out, c.Name)
		}
	}
	return out
}

// names reports whether the token, as an identifier, is name.
func (k token) names(name string) bool {
	switch k.kind {
	case tokenWord:
		return strings.ToLower(k.text) == name
	case tokenQuoted:
		return k.text == `"`+strings.ReplaceAll(name, `"`, `""`)+`"`
	}
	return false
}
