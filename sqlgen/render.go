package sqlgen

import (
	"fmt"
	"regexp"
	"strings"
)

// The control columns of staged rows: which run and plan wrote a row, and
// whether it is to be inserted ('i') or upserted ('u'). Their defaults read the
// settings of the session that writes.
var controlColumns = []string{
	`cs9_run  bigint  NOT NULL DEFAULT current_setting('cs9.run_id')::bigint`,
	`cs9_plan integer NOT NULL DEFAULT current_setting('cs9.plan')::integer`,
	`cs9_op   "char"  NOT NULL DEFAULT coalesce(nullif(current_setting('cs9.op', true), ''), 'i')::"char"`,
}

// renderer writes the objects of one table, each a statement of its own.
type renderer struct {
	t     *Table
	names Names

	keysApart bool // liveTable leaves the foreign keys to the caller
}

func newRenderer(t *Table) *renderer { return &renderer{t: t, names: NamesOf(t)} }

func (r *renderer) live() string           { return Qualified(r.t.Schema, r.t.Name) }
func (r *renderer) own(name string) string { return Qualified(r.t.Schema, name) }

// liveTable returns the statements of the live table, its partitions and indexes.
func (r *renderer) liveTable() []string {
	lines := r.columnLines(r.liveColumn)
	var out []string
	for _, o := range r.liveObjects() {
		switch {
		case o.kind == foreignKey && r.keysApart:
		case o.inline != "":
			lines = append(lines, o.inline)
		case o.create != "":
			out = append(out, o.create)
		}
	}
	create := fmt.Sprintf("CREATE TABLE %s (\n    %s\n)", r.live(), strings.Join(lines, ",\n    "))
	switch {
	case r.t.Partitions != nil:
		create += "\n" + r.t.Partitions.clause()
	case r.t.hasPart():
		create += fmt.Sprintf("\nPARTITION BY LIST (%s)", QuoteIdent(r.t.Keys[0]))
	}
	return append([]string{create}, out...)
}

// columnLines returns one line a column, names and types aligned in columns.
func (r *renderer) columnLines(rest func(Column) string) []string {
	var nameWidth, typeWidth int
	for _, c := range r.t.Columns {
		nameWidth = max(nameWidth, len([]rune(QuoteIdent(c.Name))))
		typeWidth = max(typeWidth, len([]rune(c.collated())))
	}
	lines := make([]string, len(r.t.Columns))
	for i, c := range r.t.Columns {
		lines[i] = strings.TrimRight(fmt.Sprintf("%-*s %-*s %s", nameWidth, QuoteIdent(c.Name), typeWidth, c.collated(), rest(c)), " ")
	}
	return lines
}

func (r *renderer) liveColumn(c Column) string {
	words := notNull(c)
	switch {
	case c.Identity != "":
		sequence, _ := r.names.Sequences.Get(c.Name)
		words = append(words, fmt.Sprintf("GENERATED %s AS IDENTITY (SEQUENCE NAME %s)", strings.ToUpper(c.Identity), r.own(sequence)))
	case c.Generated != "":
		words = append(words, fmt.Sprintf("GENERATED ALWAYS AS (%s) STORED", c.Generated))
	case c.Default != "":
		words = append(words, "DEFAULT "+defaultExpression(c.Default))
	}
	return strings.Join(words, " ")
}

// stagedColumn differs from the live column where the value is made by an
// identity: it comes from the same sequence when the row is staged, so that a
// publish that is resumed moves the same value.
func (r *renderer) stagedColumn(c Column) string {
	if c.Identity == "" {
		return r.liveColumn(c)
	}
	sequence, _ := r.names.Sequences.Get(c.Name)
	return fmt.Sprintf("NOT NULL DEFAULT nextval(%s)", QuoteLiteral(r.own(sequence)))
}

// plainDefault is a default that needs no parentheses: a constant, a name, or a
// call without arguments.
var plainDefault = regexp.MustCompile(`^(?:-?[0-9.]+|[A-Za-z_][A-Za-z0-9_.]*(?:\(\))?|'(?:[^'\\]|'')*')$`)

func defaultExpression(sql string) string {
	if plainDefault.MatchString(sql) {
		return sql
	}
	return "(" + sql + ")"
}

func notNull(c Column) []string {
	if c.NotNull || c.Identity != "" {
		return []string{"NOT NULL"}
	}
	return nil
}

func quoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = QuoteIdent(name)
	}
	return strings.Join(quoted, ", ")
}
