package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// columnRenames returns the columns that to declares to be columns of from
// under another name, in an order in which they can be renamed.
func columnRenames(from, declared *Table) []rename {
	names := map[string]bool{}
	for _, c := range from.Columns {
		names[c.Name] = true
	}
	var out []rename
	for again := true; again; {
		again = false
		for _, c := range declared.Columns {
			if c.Was != "" && names[c.Was] && !names[c.Name] {
				out = append(out, rename{c.Was, c.Name})
				delete(names, c.Was)
				names[c.Name] = true
				again = true
			}
		}
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
	t.Partitions = t.partsNamedAs(c.to)
	return &t
}

func (t Table) withColumnRenamed(r rename) Table {
	list := func(names []string) []string {
		out := slices.Clone(names)
		for i := range out {
			if out[i] == r.from {
				out[i] = r.to
			}
		}
		return out
	}
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		column := &t.Columns[i]
		if column.Name == r.from {
			column.Name = r.to
		}
		column.Generated = renameIn(column.Generated, r)
	}
	t.Keys = list(t.Keys)
	lists := func(named Named[[]string]) (out Named[[]string]) {
		for _, item := range named {
			out = out.add(item.Name, list(item.Value))
		}
		return out
	}
	t.Indexes, t.Unique = lists(t.Indexes), lists(t.Unique)
	checks := t.Checks
	t.Checks = nil
	for _, check := range checks {
		t.Checks = t.Checks.add(check.Name, renameIn(check.Value, r))
	}
	t.Partitions = t.Partitions.withColumnRenamed(r)
	return t
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
// after them their names.
func (c tableChange) renameSteps(mid *Table) []step {
	was, is := newRenderer(c.from), newRenderer(mid)
	var out []step
	add := func(format string, args ...any) { out = append(out, step{sql: fmt.Sprintf(format, args...)}) }
	inNew := func(name string) string { return Qualified(c.to.Schema, name) }
	before, after := was.liveObjects(), is.liveObjects()
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
		if o.name == after[i].name {
			continue
		}
		switch o.kind {
		case primaryKey, uniqueConstraint, index:
			add("ALTER INDEX %s RENAME TO %s", inNew(o.name), QuoteIdent(after[i].name))
		case checkConstraint:
			add("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", is.live(), QuoteIdent(o.name), QuoteIdent(after[i].name))
		case part:
			add("ALTER TABLE %s RENAME TO %s", inNew(o.name), QuoteIdent(after[i].name))
		case partition: // all of them at the first
			for _, r := range inFreeOrder(partitions) {
				add("ALTER TABLE %s RENAME TO %s", inNew(r.from), QuoteIdent(r.to))
			}
			partitions = nil
		case sequence:
			add("ALTER SEQUENCE %s RENAME TO %s", inNew(o.name), QuoteIdent(after[i].name))
		}
	}
	for i, f := range routinesBefore {
		if f.name != routinesAfter[i].name {
			add("ALTER %s %s%s RENAME TO %s", f.kind, inNew(f.name), f.arguments, QuoteIdent(routinesAfter[i].name))
		}
	}
	return out
}
