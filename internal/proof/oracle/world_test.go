package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// testCase is a world, what is done to it, and under which circumstances.
type testCase struct {
	world          *world
	runs           []*run    // one, or two that are ready at the same time, of two tasks
	stage, publish []setting // of the session that stages, and of the one that publishes
	events         []event
}

// world is a database before the run.
type world struct {
	settings []setting // of the database
	schemas  []string
	made     []string // types, functions and what else tables need: statements
	tables   []*table
	after    []string // what hangs on the tables: statements
	types    map[string]bool
	helpers  int
	later    []func() // what is drawn when all tables are there
}

// table is a table of the world.
type table struct {
	schema, name string
	columns      []*column
	key          []*column
	constraints  []string // in CREATE TABLE
	partitions   *split
	unique       [][]*column // besides the key
	rows         []row
	parents      []*table // that it references
	children     []*table // that reference it
	published    bool
	defined      bool   // cs9gen makes it from a definition, instead of adopting it
	mode         string // in which it is published
	triggered    bool   // it has triggers that change, skip or write elsewhere
}

type column struct {
	name    string
	kind    typed
	notNull bool
	rest    string  // DEFAULT …, GENERATED … or COLLATE …
	written bool    // a run may give it a value
	masked  bool    // its values come from a sequence: they are not compared
	from    *column // of the table that it references
	parent  *table
}

// row is a value for each column that is written, by its name, as SQL.
type row map[string]string

func (t *table) live() string { return sqlgen.Qualified(t.schema, t.name) }

func (c *column) quoted() string { return sqlgen.QuoteIdent(c.name) }

func quotedColumns(list []*column) string {
	var out []string
	for _, c := range list {
		out = append(out, c.quoted())
	}
	return strings.Join(out, ", ")
}

// writable returns the columns that a run gives values.
func (t *table) writable() []*column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool { return !c.written })
}

// plain returns the columns that are not in the key and are written.
func (t *table) plain() []*column {
	return slices.DeleteFunc(t.writable(), func(c *column) bool { return slices.Contains(t.key, c) })
}

func (w *world) before(sql string) {
	if !slices.Contains(w.made, sql) {
		w.made = append(w.made, sql)
	}
}

func (w *world) hang(format string, args ...any) {
	w.after = append(w.after, fmt.Sprintf(format, args...))
}

func (w *world) schema(d *drawer) string { return pickOf(d, w.schemas) }

func (w *world) publishedTables() []*table {
	return slices.DeleteFunc(slices.Clone(w.tables), func(t *table) bool { return !t.published })
}

func drawWorld(d *drawer) *world {
	w := &world{types: map[string]bool{}}
	taken := map[string]bool{"public": true, "pg_catalog": true}
	for _, s := range d.some(1, 2, "schema") {
		w.schemas = append(w.schemas, s.name(taken, "schema"))
	}
	w.settings = drawSettings(d.sub("settings"), w, databaseSettings)
	for i, s := range d.some(1, 2+d.below(3), "table") {
		w.tables = append(w.tables, w.table(s, i))
	}
	for _, draw := range w.later {
		draw()
	}
	for _, t := range w.tables {
		if t.published {
			return w
		}
	}
	w.tables[0].published = true
	return w
}

func (w *world) table(d *drawer, i int) *table {
	t := &table{schema: w.schema(d), published: d.chance(80)}
	t.name = d.name(w.types, "table")
	taken := map[string]bool{}
	for _, s := range d.some(1, pick(d, 1, 1, 1, 2, 2, 3), "key column") {
		c := &column{name: s.name(taken, "column"), kind: w.kind(s, true), notNull: true, written: true}
		t.columns, t.key = append(t.columns, c), append(t.key, c)
	}
	if i > 0 && len(w.tables) > 0 {
		if s, ok := d.option(45, "foreign key"); ok {
			w.foreignKey(s, t, pickOf(s, w.tables), taken)
		}
	}
	for _, s := range d.some(1, pick(d, 1, 2, 2, 3, 4), "column") {
		t.columns = append(t.columns, w.column(s, t, taken))
	}
	if _, ok := d.option(12, "defined"); ok && i == 0 {
		t.defined = true
	} else if s, ok := d.option(25, "partitions"); ok {
		t.partitions = w.split(s, t)
	}
	for _, s := range d.some(0, pick(d, 1, 2, 3), "hang") {
		w.hangOn(s, t)
	}
	t.mode = w.mode(d.sub("mode"), t)
	w.fill(d.sub("rows"), t)
	return t
}

func (w *world) mode(d *drawer, t *table) string {
	switch {
	case t.triggered:
		return "batched"
	case t.partitions != nil:
		return pick(d, "batched", "swap", "swap", "atomic")
	case t.defined:
		return pick(d, "batched", "atomic", "swap")
	}
	return pick(d, "batched", "batched", "atomic")
}

// column draws a column that is not in the key.
func (w *world) column(d *drawer, t *table, taken map[string]bool) *column {
	c := &column{name: d.name(taken, "column"), kind: w.kind(d, false), written: true, notNull: d.chance(25)}
	s, ok := d.option(30, "default")
	if !ok {
		return c
	}
	value := literal(pickOf(s, c.kind.values[:min(2, len(c.kind.values))]))
	switch s.weighted(5, 2, 2, 1, 2) {
	case 0:
		c.rest = fmt.Sprintf("DEFAULT %s", value)
	case 1:
		f := w.helper(s, c.kind.sql, fmt.Sprintf("SELECT %s::%s", value, stripCollation(c.kind.sql)), "")
		c.rest = fmt.Sprintf("DEFAULT %s()", f)
	case 2:
		of := t.columns[s.below(len(t.columns))]
		if of.written {
			c.kind, c.written, c.notNull = typed{kind: kinds[0], sql: "integer"}, false, false
			c.rest = fmt.Sprintf("GENERATED ALWAYS AS (%s) STORED", w.numberOf(s, of))
		}
	case 3:
		c.kind, c.rest, c.notNull = typed{kind: kinds[0], sql: pick(s, "integer", "bigint", "smallint")}, "GENERATED BY DEFAULT AS IDENTITY", true
		c.masked = s.chance(50)
	case 4:
		c.kind, c.notNull, c.masked = typed{kind: kinds[0], sql: "serial"}, true, s.chance(50)
	}
	c.written = c.written && !c.masked
	return c
}

func stripCollation(sql string) string {
	before, _, _ := strings.Cut(sql, " COLLATE ")
	return before
}

// numberOf is an immutable integer that follows from a column; it may raise for some of its values.
func (w *world) numberOf(d *drawer, c *column) string {
	q := c.quoted()
	switch {
	case c.kind.name == "integer" || c.kind.name == "bigint" || c.kind.name == "smallint":
		return pick(d, q+" + 1", fmt.Sprintf("(12 / %s)::integer", q), fmt.Sprintf("abs(%s)::integer", q), w.helper(d, "integer", "SELECT p::integer + 1", "p "+c.kind.sql)+"("+q+")")
	case strings.HasPrefix(c.kind.name, "text") || strings.HasPrefix(c.kind.name, "varchar"):
		return pick(d, fmt.Sprintf("length(%s)", q), fmt.Sprintf("12 / octet_length(%s)", q), fmt.Sprintf("ascii(%s)", q), w.helper(d, "integer", "SELECT length(p)", "p text")+"("+q+")")
	}
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN 0 ELSE 1 END", q)
}

// helper makes an immutable function, and returns its qualified name. Its body
// calls another function of its schema, in some cases without the schema.
func (w *world) helper(d *drawer, returns, body, parameters string) string {
	w.helpers++
	schema := w.schema(d)
	inner, outer := fmt.Sprintf("inner_%d", w.helpers), fmt.Sprintf("outer_%d", w.helpers)
	if s, ok := d.option(50, "name of function"); ok {
		outer = cutName(pickOf(s, s.shared.names.aliases), 50) + fmt.Sprint(w.helpers)
	}
	argument := ""
	if parameters != "" {
		argument = "p"
	}
	callee := sqlgen.Qualified(schema, inner)
	if s, ok := d.option(35, "no schema in function"); ok {
		callee = inner
		if pathOf(w.settings) == nil {
			w.settings = append(w.settings, setting{"search_path", strings.Join(append(quoteAll(w.schemas), "public"), ", ")})
		}
		_ = s
	}
	returns = stripCollation(returns)
	w.before(fmt.Sprintf("CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE sql IMMUTABLE AS %s", sqlgen.Qualified(schema, inner), stripCollation(parameters), returns, sqlgen.QuoteLiteral(body)))
	language, text := "sql", fmt.Sprintf("SELECT %s(%s)", callee, argument)
	if d.chance(60) {
		language, text = "plpgsql", fmt.Sprintf("BEGIN RETURN %s(%s); END", callee, argument)
	}
	w.before(fmt.Sprintf("CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE %s IMMUTABLE AS %s", sqlgen.Qualified(schema, outer), stripCollation(parameters), returns, language, sqlgen.QuoteLiteral(text)))
	return sqlgen.Qualified(schema, outer)
}

func quoteAll(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, sqlgen.QuoteIdent(n))
	}
	return out
}

// foreignKey gives a table columns that reference the key of another.
func (w *world) foreignKey(d *drawer, t, parent *table, taken map[string]bool) {
	var mine []*column
	for i, k := range parent.key {
		s := d.sub("column %d", i)
		c := &column{name: s.name(taken, "column"), kind: k.kind, written: true, from: k, parent: parent}
		t.columns, mine = append(t.columns, c), append(mine, c)
	}
	if s, ok := d.option(25, "in the key"); ok {
		_ = s
		for _, c := range mine {
			c.notNull = true
		}
		t.key = append(t.key, mine...)
	}
	actions := []string{"", " ON DELETE CASCADE", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE SET DEFAULT", " ON DELETE RESTRICT", " ON UPDATE CASCADE", " ON DELETE CASCADE ON UPDATE CASCADE"}
	rest := pickOf(d, actions) + pick(d, "", "", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED", " MATCH FULL", " NOT VALID")
	if strings.Contains(rest, "MATCH FULL") {
		rest = " MATCH FULL" + strings.Replace(rest, " MATCH FULL", "", 1)
	}
	w.hang("ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s)%s", t.live(), quotedColumns(mine), parent.live(), quotedColumns(parent.key), rest)
	t.parents = append(t.parents, parent)
	parent.children = append(parent.children, t)
}

// fill draws the rows that are there before the run.
func (w *world) fill(d *drawer, t *table) {
	used := map[string]bool{}
	for _, s := range d.some(0, pick(d, 0, 2, 4, 6), "row") {
		if r := t.row(s, used); r != nil {
			t.rows = append(t.rows, r)
		}
	}
}

// row draws a row whose key is not used yet; nil when there is none.
func (t *table) row(d *drawer, used map[string]bool) row {
	for try := range 6 {
		s := d.sub("try %d", try)
		r := row{}
		var parent row
		for _, c := range t.writable() {
			if c.from != nil {
				if parent == nil && len(c.parent.rows) > 0 && !s.chance(8) {
					parent = pickOf(s, c.parent.rows)
				}
				if parent != nil {
					r[c.name] = parent[c.from.name]
					continue
				}
			}
			r[c.name] = c.value(s.sub("value of %s", c.name))
		}
		if t.take(r, used, !s.chance(15)) {
			return r
		}
	}
	return nil
}

// take notes the values of a row in the key, and in what else is unique; false where another row has them.
func (t *table) take(r row, used map[string]bool, all bool) bool {
	var values []string
	for i, columns := range append([][]*column{t.key}, t.unique...) {
		text := fmt.Sprint(i)
		for _, c := range columns {
			text += "\x00" + r[c.name]
		}
		if used[text] && (i == 0 || all) {
			return false
		}
		values = append(values, text)
	}
	for _, text := range values {
		used[text] = true
	}
	return true
}

func (c *column) value(d *drawer) string {
	if !c.notNull && d.chance(15) {
		return "NULL"
	}
	n := len(c.kind.values)
	if _, edge := d.option(20, "edge value"); !edge {
		n = min(3, n)
	}
	return literal(c.kind.values[d.below(n)])
}

// create returns the statements that make a table.
func (t *table) create() []string {
	var parts []string
	for _, c := range t.columns {
		text := c.quoted() + " " + c.kind.sql
		if c.rest != "" {
			text += " " + c.rest
		}
		if c.notNull {
			text += " NOT NULL"
		}
		parts = append(parts, text)
	}
	parts = append(parts, "PRIMARY KEY ("+quotedColumns(t.key)+")")
	parts = append(parts, t.constraints...)
	sql := fmt.Sprintf("CREATE TABLE %s (%s)", t.live(), strings.Join(parts, ", "))
	if t.partitions == nil {
		return []string{sql}
	}
	return append([]string{sql + " " + t.partitions.by}, t.partitions.parts...)
}

// insert returns a statement that inserts rows, into the table or what is staged for it.
func (t *table) insert(into string, rows []row, extra ...string) string {
	columns := t.writable()
	var lines []string
	for _, r := range rows {
		var values []string
		for _, c := range columns {
			values = append(values, r[c.name])
		}
		lines = append(lines, "("+strings.Join(values, ", ")+")")
	}
	return fmt.Sprintf("INSERT INTO %s AS cs9_t (%s) VALUES %s%s", into, quotedColumns(columns), strings.Join(lines, ", "), strings.Join(extra, ""))
}
