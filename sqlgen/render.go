package sqlgen

import (
	"fmt"
	"regexp"
	"slices"
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
}

func newRenderer(t *Table) *renderer { return &renderer{t: t, names: NamesOf(t)} }

func (r *renderer) live() string           { return Qualified(r.t.Schema, r.t.Name) }
func (r *renderer) own(name string) string { return Qualified(r.t.Schema, name) }

// liveTable returns the statements of the live table, its partitions and indexes.
func (r *renderer) liveTable() []string {
	lines := r.columnLines(r.liveColumn)
	lines = append(lines, fmt.Sprintf("CONSTRAINT %s PRIMARY KEY (%s)", QuoteIdent(r.names.PrimaryKey), quoteList(r.t.Keys)))
	ofPart := r.uniqueOfPart()
	for i, unique := range r.t.Unique {
		if !ofPart[unique.Name] {
			lines = append(lines, r.uniqueLine(i))
		}
	}
	lines = append(lines, r.checkLines()...)

	create := fmt.Sprintf("CREATE TABLE %s (\n    %s\n)", r.live(), strings.Join(lines, ",\n    "))
	switch {
	case r.t.Partitions != nil:
		create += fmt.Sprintf("\nPARTITION BY LIST (%s)", QuoteIdent(r.t.Partitions.Column))
	case r.t.hasPart():
		create += fmt.Sprintf("\nPARTITION BY LIST (%s)", QuoteIdent(r.t.Keys[0]))
	}
	out := []string{create}
	if r.t.hasPart() {
		out = append(out, fmt.Sprintf("CREATE TABLE %s\n    PARTITION OF %s DEFAULT", r.own(r.names.Part), r.live()))
	}
	for i, unique := range r.t.Unique {
		if ofPart[unique.Name] {
			out = append(out, fmt.Sprintf("ALTER TABLE %s\n    ADD %s", r.own(r.names.Part), r.uniqueLine(i)))
		}
	}
	for _, partition := range r.names.Partitions {
		out = append(out, fmt.Sprintf("CREATE TABLE %s\n    PARTITION OF %s\n    FOR VALUES IN (%s)",
			r.own(partition.Value), r.live(), QuoteLiteral(partition.Name)))
	}
	for i, index := range r.t.Indexes {
		out = append(out, fmt.Sprintf("CREATE INDEX %s\n    ON %s (%s)",
			QuoteIdent(r.names.Indexes[i].Value), r.live(), quoteList(index.Value)))
	}
	return out
}

// uniqueOfPart names the unique constraints that only the partition can have:
// those of a partitioned table must hold the column it is partitioned by. All
// rows are in the one partition, so that they mean the same there.
func (r *renderer) uniqueOfPart() map[string]bool {
	names := map[string]bool{}
	for _, unique := range r.t.Unique {
		if r.t.hasPart() && !slices.Contains(unique.Value, r.t.Keys[0]) {
			names[unique.Name] = true
		}
	}
	return names
}

func (r *renderer) uniqueLine(i int) string {
	return fmt.Sprintf("CONSTRAINT %s UNIQUE (%s)", QuoteIdent(r.names.Unique[i].Value), quoteList(r.t.Unique[i].Value))
}

// stagingTemplate returns the statements of the empty table that each run's own
// table is a copy of: the columns and checks of the live table, the control
// columns, and no index.
func (r *renderer) stagingTemplate() []string {
	lines := r.columnLines(r.stagedColumn)
	lines = append(lines, controlColumns...)
	lines = append(lines, r.checkLines()...)
	if p := r.t.Partitions; p != nil {
		values := make([]string, len(p.Values))
		for i, value := range p.Values {
			values[i] = QuoteLiteral(value)
		}
		lines = append(lines, fmt.Sprintf("CONSTRAINT %s CHECK (%s IN (%s))",
			QuoteIdent(r.names.RoutableCheck), QuoteIdent(p.Column), strings.Join(values, ", ")))
	}
	lines = append(lines, `CONSTRAINT cs9_op_check CHECK (cs9_op IN ('i', 'u'))`)
	staging := r.own(r.names.Staging)
	return []string{
		fmt.Sprintf("CREATE TABLE %s (\n    %s\n)", staging, strings.Join(lines, ",\n    ")),
		fmt.Sprintf("CREATE TRIGGER %s\n    BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s\n    FOR EACH STATEMENT EXECUTE FUNCTION cs9.guard_template()",
			QuoteIdent(r.names.Guard), staging),
	}
}

// comments returns COMMENT ON statements for everything that is the table's.
func (r *renderer) comments() []string {
	var out []string
	say := func(what, text string) {
		out = append(out, fmt.Sprintf("COMMENT ON %s IS %s", what, QuoteLiteral(text)))
	}
	if r.t.Comment != "" {
		say("TABLE "+r.live(), r.t.Comment)
	}
	for _, c := range r.t.Columns {
		if c.Comment != "" {
			say("COLUMN "+r.live()+"."+QuoteIdent(c.Name), c.Comment)
		}
	}
	name := r.live()
	say("TABLE "+r.own(r.names.Staging), "cs9gen: staging template of "+name+"; stays empty, each run writes to a copy")
	say("FUNCTION "+r.own(r.names.DeleteStep)+deleteStepArguments, "cs9gen: applies one delete to "+name)
	say("FUNCTION "+r.own(r.names.MoveBatch)+moveBatchArguments, "cs9gen: moves one batch of staged rows into "+name)
	say("FUNCTION "+r.own(r.names.ApplyChanges)+applyChangesArguments, "cs9gen: makes "+name+" what the staged rows say, touching only rows that differ")
	say("PROCEDURE "+r.own(r.names.Publish)+publishArguments, "cs9gen: publishes what a run staged for "+name)
	return out
}

// columnLines returns one line a column, names and types aligned in columns.
func (r *renderer) columnLines(rest func(Column) string) []string {
	var nameWidth, typeWidth int
	for _, c := range r.t.Columns {
		nameWidth = max(nameWidth, len([]rune(QuoteIdent(c.Name))))
		typeWidth = max(typeWidth, len([]rune(c.SQLType())))
	}
	lines := make([]string, len(r.t.Columns))
	for i, c := range r.t.Columns {
		lines[i] = strings.TrimRight(fmt.Sprintf("%-*s %-*s %s", nameWidth, QuoteIdent(c.Name), typeWidth, c.SQLType(), rest(c)), " ")
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

func (r *renderer) checkLines() []string {
	lines := make([]string, len(r.t.Checks))
	for i, check := range r.t.Checks {
		lines[i] = fmt.Sprintf("CONSTRAINT %s CHECK (%s)", QuoteIdent(r.names.Checks[i].Value), check.Value)
	}
	return lines
}

func quoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = QuoteIdent(name)
	}
	return strings.Join(quoted, ", ")
}
