package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// hangs are what can hang on a table, and how often one is drawn. Each adds
// statements, which PostgreSQL may refuse: then the world does not have it.
var hangs = []struct {
	name   string
	weight int
	draw   func(w *world, d *drawer, t *table)
}{
	{"unique constraint", 8, uniqueConstraint},
	{"unique index", 8, uniqueIndex},
	{"index", 10, anyIndex},
	{"index that can raise", 8, raisingIndex},
	{"exclusion constraint", 1, exclusion},
	{"check", 8, check},
	{"check by a function", 8, functionCheck},
	{"foreign key to itself", 4, selfReference},
	{"foreign key of a unique constraint", 3, uniqueReference},
	{"trigger", 6, trigger},
	{"rule", 1, rule},
	{"row-level security", 2, rowSecurity},
	{"grants", 3, grants},
	{"publication", 4, publication},
	{"replica identity", 3, replicaIdentity},
	{"storage", 4, storage},
	{"statistics", 3, statistics},
	{"view", 3, view},
	{"comment", 3, comments},
	{"inheritance", 1, inheritance},
	{"dropped column", 4, droppedColumn},
}

func (w *world) hangOn(d *drawer, t *table) {
	var weights []int
	for _, h := range hangs {
		weights = append(weights, h.weight)
	}
	h := hangs[d.weighted(weights...)]
	h.draw(w, d.sub("%s", h.name), t)
}

// relation draws a name for an index, with IF NOT EXISTS's place empty: " name" or "".
func (w *world) relation(d *drawer) string {
	if d.chance(50) {
		return sqlgen.QuoteIdent(d.name(w.types, "relation"))
	}
	return ""
}

func (w *world) constraintName(d *drawer) string {
	if d.chance(50) {
		return "CONSTRAINT " + sqlgen.QuoteIdent(d.name(map[string]bool{}, "constraint")) + " "
	}
	return ""
}

// columnsOf draws one or two columns, with those of the partition key where a unique index needs them.
func (t *table) columnsOf(d *drawer) []*column {
	out := []*column{pickOf(d, t.columns)}
	if c := pickOf(d, t.columns); d.chance(30) && c != out[0] {
		out = append(out, c)
	}
	if t.partitions != nil {
		for _, k := range t.key {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}

func uniqueConstraint(w *world, d *drawer, t *table) {
	columns := t.columnsOf(d)
	t.unique = append(t.unique, columns)
	nulls := ""
	if d.shared.server.version >= 15 {
		nulls = pick(d, "", "", "NULLS NOT DISTINCT ")
	}
	w.hang("ALTER TABLE %s ADD %sUNIQUE %s(%s)%s", t.live(), w.constraintName(d), nulls, quotedColumns(columns), pick(d, "", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED"))
}

func uniqueIndex(w *world, d *drawer, t *table) {
	c := pickOf(d, t.columns)
	item := c.quoted()
	t.unique = append(t.unique, []*column{c})
	switch d.below(4) {
	case 0:
		item = "(" + w.numberOf(d, c) + ")"
	case 1:
		item = fmt.Sprintf("(%s)", w.helper(d, c.kind.sql, "SELECT p", "p "+c.kind.sql)+"("+c.quoted()+")")
	case 2:
		item += ", " + quotedColumns(t.columnsOf(d))
	}
	where := ""
	if s, ok := d.option(40, "where"); ok {
		where = " WHERE " + t.condition(s, false)
	}
	w.hang("CREATE UNIQUE INDEX %s ON %s (%s)%s", w.relation(d), t.live(), item, where)
}

func anyIndex(w *world, d *drawer, t *table) {
	c := pickOf(d, t.columns)
	method := pick(d, "btree", "btree", "btree", "hash", "gin", "gist", "spgist", "brin")
	item := c.quoted()
	switch d.below(5) {
	case 0:
		item += pick(d, " DESC", " NULLS FIRST", ` COLLATE "C"`, " text_pattern_ops", " varchar_pattern_ops")
	case 1:
		item = "(" + w.numberOf(d, c) + ")"
	case 2:
		if method == "gin" {
			item = fmt.Sprintf("to_tsvector('simple', %s)", c.quoted())
		}
	}
	rest := pick(d, "", "", "", " WITH (fillfactor = 70)", fmt.Sprintf(" INCLUDE (%s)", pickOf(d, t.columns).quoted()))
	if s, ok := d.option(25, "where"); ok {
		rest += " WHERE " + t.condition(s, false)
	}
	w.hang("CREATE INDEX %s ON %s USING %s (%s)%s", w.relation(d), t.live(), method, item, rest)
}

// raisingIndex is an index that some values of the column cannot enter.
func raisingIndex(w *world, d *drawer, t *table) {
	var numbers, words []*column
	for _, c := range t.columns {
		switch {
		case c.kind.name == "integer" || c.kind.name == "bigint" || c.kind.name == "smallint":
			numbers = append(numbers, c)
		case strings.HasPrefix(c.kind.name, "text") || c.kind.name == "domain over text":
			words = append(words, c)
		}
	}
	switch {
	case len(numbers) > 0 && (len(words) == 0 || d.chance(60)):
		q := pickOf(d, numbers).quoted()
		w.hang(pick(d, "CREATE INDEX %[1]s ON %[2]s ((1 / %[3]s))", "CREATE INDEX %[1]s ON %[2]s (%[3]s) WHERE 12 / %[3]s > 1", "CREATE INDEX %[1]s ON %[2]s (sqrt(%[3]s::double precision))", "CREATE INDEX %[1]s ON %[2]s (ln(%[3]s::numeric))"), w.relation(d), t.live(), q)
	case len(words) > 0:
		q := pickOf(d, words).quoted()
		w.hang(pick(d, "CREATE INDEX %[1]s ON %[2]s (%[3]s)", "CREATE INDEX %[1]s ON %[2]s (upper(%[3]s))", "CREATE INDEX %[1]s ON %[2]s ((12 / length(%[3]s)))", "CREATE INDEX %[1]s ON %[2]s ((%[3]s || %[3]s))", "CREATE INDEX %[1]s ON %[2]s USING gin (to_tsvector('simple', %[3]s))"), w.relation(d), t.live(), q)
	default:
		w.hang("CREATE INDEX %s ON %s (%s)", w.relation(d), t.live(), quotedColumns(t.columnsOf(d)))
	}
}

func exclusion(w *world, d *drawer, t *table) {
	w.hang("ALTER TABLE %s ADD EXCLUDE USING %s (%s WITH %s)", t.live(), pick(d, "btree", "gist"), pickOf(d, t.columns).quoted(), pick(d, "=", "&&"))
}

func check(w *world, d *drawer, t *table) {
	w.hang("ALTER TABLE %s ADD %sCHECK (%s)%s", t.live(), w.constraintName(d), t.condition(d, true), pick(d, "", "", "", " NOT VALID", " NO INHERIT"))
}

func functionCheck(w *world, d *drawer, t *table) {
	c := pickOf(d, t.columns)
	w.hang("ALTER TABLE %s ADD %sCHECK (%s(%s) IS NOT FALSE)", t.live(), w.constraintName(d), w.helper(d, "boolean", pick(d, "SELECT true", "SELECT p IS NOT NULL OR true", "SELECT p::text <> 'ab'"), "p "+c.kind.sql), c.quoted())
}

func selfReference(w *world, d *drawer, t *table) {
	if len(t.key) != 1 {
		return
	}
	c := &column{name: d.name(columnNames(t), "column"), kind: t.key[0].kind, written: true, from: t.key[0], parent: t}
	t.columns = append(t.columns, c)
	w.hang("ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s)%s", t.live(), c.quoted(), t.live(), t.key[0].quoted(), pick(d, "", " ON DELETE CASCADE", " ON DELETE SET NULL", " DEFERRABLE INITIALLY DEFERRED"))
}

func columnNames(t *table) map[string]bool {
	out := map[string]bool{}
	for _, c := range t.columns {
		out[c.name] = true
	}
	return out
}

// uniqueReference is a foreign key of a new table, which nobody publishes, at a unique constraint of this one.
func uniqueReference(w *world, d *drawer, t *table) {
	c := pickOf(d, t.columns)
	if !c.kind.key || !c.written {
		return
	}
	other := &table{schema: w.schema(d), name: d.name(w.types, "table"), mode: "batched"}
	ref := &column{name: d.name(map[string]bool{}, "column"), kind: c.kind, written: true, from: c, parent: t}
	id := &column{name: d.name(map[string]bool{ref.name: true}, "key column"), kind: typed{kind: kinds[0], sql: "integer"}, notNull: true, written: true}
	other.columns, other.key = []*column{id, ref}, []*column{id}
	w.hang("ALTER TABLE %s ADD UNIQUE (%s)", t.live(), c.quoted())
	t.unique = append(t.unique, []*column{c})
	w.hang("ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s)%s", other.live(), ref.quoted(), t.live(), c.quoted(), pick(d, "", " ON DELETE CASCADE", " ON UPDATE CASCADE", " ON DELETE SET NULL"))
	w.tables = append(w.tables, other)
	other.parents, t.children = append(other.parents, t), append(t.children, other)
	w.later = append(w.later, func() { w.fill(d.sub("rows"), other) })
}

func rule(w *world, d *drawer, t *table) {
	w.hang("CREATE RULE %s AS ON %s TO %s DO %s NOTHING", sqlgen.QuoteIdent(d.name(map[string]bool{}, "rule")), pick(d, "INSERT", "UPDATE", "DELETE"), t.live(), pick(d, "ALSO", "INSTEAD"))
}

func rowSecurity(w *world, d *drawer, t *table) {
	w.hang("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", t.live())
	w.hang("CREATE POLICY %s ON %s USING (%s)", sqlgen.QuoteIdent(d.name(map[string]bool{}, "policy")), t.live(), t.condition(d, false))
}

func grants(w *world, d *drawer, t *table) {
	w.hang("GRANT %s ON %s TO %s", pick(d, "SELECT", "ALL", "INSERT, UPDATE", "SELECT ("+pickOf(d, t.columns).quoted()+")"), t.live(), pick(d, "PUBLIC", "pg_read_all_data", "pg_monitor"))
}

func publication(w *world, d *drawer, t *table) {
	name := sqlgen.QuoteIdent(d.name(map[string]bool{}, "publication"))
	switch d.below(4) {
	case 0, 1:
		w.hang("CREATE PUBLICATION %s FOR ALL TABLES", name)
	case 2:
		w.hang("CREATE PUBLICATION %s FOR TABLE %s", name, t.live())
	case 3:
		w.hang("CREATE PUBLICATION %s FOR TABLE %s%s", name, t.live(), pick(d, " ("+quotedColumns(t.key)+")", " WHERE ("+t.key[0].quoted()+" IS NOT NULL)"))
	}
}

func replicaIdentity(w *world, d *drawer, t *table) {
	w.hang("ALTER TABLE %s REPLICA IDENTITY %s", t.live(), pick(d, "FULL", "FULL", "NOTHING"))
}

func storage(w *world, d *drawer, t *table) {
	w.hang("ALTER TABLE %s %s", t.live(), pick(d, "SET (fillfactor = 60)", "SET (autovacuum_enabled = off)", "SET WITHOUT CLUSTER", fmt.Sprintf("ALTER COLUMN %s SET STORAGE EXTERNAL", pickOf(d, t.columns).quoted()),
		fmt.Sprintf("ALTER COLUMN %s SET COMPRESSION pglz", pickOf(d, t.columns).quoted()), fmt.Sprintf("ALTER COLUMN %s SET STATISTICS 7", pickOf(d, t.columns).quoted())))
}

func statistics(w *world, d *drawer, t *table) {
	w.hang("CREATE STATISTICS %s ON %s FROM %s", sqlgen.Qualified(t.schema, d.name(map[string]bool{}, "statistics")), quotedColumns(t.columns[:2]), t.live())
}

func view(w *world, d *drawer, t *table) {
	w.hang("CREATE %sVIEW %s AS SELECT * FROM %s", pick(d, "", "", "MATERIALIZED "), sqlgen.Qualified(w.schema(d), d.name(w.types, "view")), t.live())
}

func comments(w *world, d *drawer, t *table) {
	w.hang("COMMENT ON TABLE %s IS %s", t.live(), sqlgen.QuoteLiteral(pickOf(d, oddNames)))
	w.hang("COMMENT ON COLUMN %s.%s IS %s", t.live(), pickOf(d, t.columns).quoted(), sqlgen.QuoteLiteral(pickOf(d, oddNames)))
}

func inheritance(w *world, d *drawer, t *table) {
	if d.chance(70) { // such a table is not taken: a few are enough
		return
	}
	w.hang("CREATE TABLE %s () INHERITS (%s)", sqlgen.Qualified(t.schema, d.name(w.types, "heir")), t.live())
}

func droppedColumn(w *world, d *drawer, t *table) {
	gone := sqlgen.QuoteIdent(d.name(columnNames(t), "dropped column"))
	w.hang("ALTER TABLE %s ADD %s %s", t.live(), gone, pick(d, "integer", "text DEFAULT 'x'"))
	w.hang("ALTER TABLE %s DROP %s", t.live(), gone)
}
