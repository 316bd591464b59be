package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// columnRenames returns the columns that to declares to be columns of from
// under another name, in an order in which they can be renamed.
func columnRenames(from, declared *Table) []rename {
	var names []string
	for _, c := range from.Columns {
		names = append(names, c.Name)
	}
	var wanted []rename
	for _, c := range declared.Columns {
		wanted = append(wanted, rename{c.Was, c.Name})
	}
	return possibleRenames(names, wanted)
}

// possibleRenames returns those of the renames that are wanted which can be done:
// what is there gets a name that nothing has.
func possibleRenames(names []string, wanted []rename) []rename {
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	var out []rename
	for again := true; again; {
		again = false
		for _, r := range wanted {
			if r.from != "" && there[r.from] && !there[r.to] {
				out = append(out, r)
				delete(there, r.from)
				there[r.to] = true
				again = true
			}
		}
	}
	return out
}

func reversedRenames(renames []rename) []rename {
	var out []rename
	for _, r := range slices.Backward(renames) {
		out = append(out, rename{r.to, r.from})
	}
	return out
}

// renamed returns from with the names it is to have.
func (c tableChange) renamed() *Table {
	t := *c.from
	t.Schema, t.Name = c.to.Schema, c.to.Name
	for _, r := range c.renames {
		t = t.withColumnRenamed(r)
	}
	t.ForeignKeys = mapped(t.ForeignKeys, c.followed)
	c.takeNames(&t)
	t.Partitions = t.partsNamedAs(c.to)
	return &t
}

func renamedIn(names []string, r rename) []string {
	out := slices.Clone(names)
	for i := range out {
		if out[i] == r.from {
			out[i] = r.to
		}
	}
	return out
}

func (t Table) withColumnRenamed(r rename) Table {
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		column := &t.Columns[i]
		if column.Name == r.from {
			column.Name = r.to
		}
		column.Generated = renameIn(column.Generated, r)
	}
	t.Keys = renamedIn(t.Keys, r)
	t.Indexes = mapped(t.Indexes, func(x Index) Index { return x.withColumnRenamed(r) })
	t.Unique = mapped(t.Unique, func(u Unique) Unique {
		u.Columns, u.Include = renamedIn(u.Columns, r), renamedIn(u.Include, r)
		return u
	})
	t.Checks = mapped(t.Checks, func(c Check) Check {
		c.Expression = renameIn(c.Expression, r)
		return c
	})
	t.ForeignKeys = mapped(t.ForeignKeys, func(f ForeignKey) ForeignKey {
		f.Columns = renamedIn(f.Columns, r)
		return f
	})
	t.Partitions = t.Partitions.withColumnRenamed(r)
	return t
}

func (x Index) withColumnRenamed(r rename) Index {
	x.Include, x.Where = renamedIn(x.Include, r), renameIn(x.Where, r)
	x.Columns = slices.Clone(x.Columns)
	for i := range x.Columns {
		c := &x.Columns[i]
		c.Expression = renameIn(c.Expression, r)
		if c.Column == r.from {
			c.Column = r.to
		}
	}
	return x
}

// renameIn returns an expression in which a column has another name, as
// PostgreSQL itself changes it. A word that only looks like the column is at
// worst a reason to make the check again.
func renameIn(sql string, r rename) string {
	var b strings.Builder
	for at := 0; at < len(sql); {
		size, kind, err := lexOne(sql[at:])
		if err != nil {
			return sql
		}
		text := sql[at : at+size]
		if (token{kind, text}).names(r.from) {
			text = QuoteIdent(r.to)
		}
		b.WriteString(text)
		at += size
	}
	return b.String()
}

// renameSteps returns what gives the table, its columns and all that is named
// after them their names; but not the foreign keys that are gone already, nor
// what was dropped early.
func (c tableChange) renameSteps(mid *Table, gone, early map[string]bool) []step {
	was, is := newRenderer(c.from), newRenderer(mid)
	var out []step
	add := func(format string, args ...any) { out = append(out, step{sql: fmt.Sprintf(format, args...)}) }
	inNew := func(name string) string { return Qualified(c.to.Schema, name) }
	before, after := withoutEarly(was.liveObjects(), is.liveObjects(), early)
	var partitions []rename
	routinesBefore, routinesAfter := was.ownRoutines(), is.ownRoutines()
	if c.from.Schema != c.to.Schema {
		add("CREATE SCHEMA IF NOT EXISTS %s", QuoteIdent(c.to.Schema))
		add("ALTER TABLE %s SET SCHEMA %s", was.live(), QuoteIdent(c.to.Schema))
		for _, o := range before {
			if o.kind == part || o.kind == partition {
				add("ALTER TABLE %s SET SCHEMA %s", was.own(o.name), QuoteIdent(c.to.Schema))
			}
		}
		for _, f := range routinesBefore {
			add("ALTER %s SET SCHEMA %s", was.signature(f), QuoteIdent(c.to.Schema))
		}
	}
	if c.from.Name != c.to.Name {
		add("ALTER TABLE %s RENAME TO %s", inNew(c.from.Name), QuoteIdent(c.to.Name))
	}
	for _, r := range c.renames {
		add("ALTER TABLE %s RENAME COLUMN %s TO %s", is.live(), QuoteIdent(r.from), QuoteIdent(r.to))
	}
	for i, o := range before {
		if o.kind == partition && o.name != after[i].name {
			partitions = append(partitions, rename{o.name, after[i].name})
		}
	}
	for i, o := range before {
		if o.kind == partition { // all of them at the first
			for _, r := range inFreeOrder(partitions) {
				add("ALTER TABLE %s RENAME TO %s", inNew(r.from), QuoteIdent(r.to))
			}
			partitions = nil
			continue
		}
		if o.name != after[i].name && (o.kind != foreignKey || !gone[after[i].id]) {
			if sql := is.renameObject(o, after[i].name); sql != "" {
				add("%s", sql)
			}
		}
	}
	for i, f := range routinesBefore {
		if f.name != routinesAfter[i].name {
			add("ALTER %s %s%s RENAME TO %s", f.kind, inNew(f.name), f.arguments, QuoteIdent(routinesAfter[i].name))
		}
	}
	return out
}

// renameObject returns the statement that gives an object, already in the schema
// of the renderer's table, another name.
func (r *renderer) renameObject(o object, name string) string {
	switch o.kind {
	case primaryKey, uniqueConstraint, index:
		return fmt.Sprintf("ALTER INDEX %s RENAME TO %s", r.own(o.name), QuoteIdent(name))
	case checkConstraint, foreignKey:
		return fmt.Sprintf("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", r.live(), QuoteIdent(o.name), QuoteIdent(name))
	case part, partition:
		return fmt.Sprintf("ALTER TABLE %s RENAME TO %s", r.own(o.name), QuoteIdent(name))
	case sequence:
		return fmt.Sprintf("ALTER SEQUENCE %s RENAME TO %s", r.own(o.name), QuoteIdent(name))
	}
	return ""
}
