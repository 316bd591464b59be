package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// uniqueOn returns the relation that keeps columns unique. An index of a
// partitioned table that does so must hold the column it is partitioned by. In a
// table that is split for the swap alone all rows are in the one partition, so
// that it means the same there.
func (r *renderer) uniqueOn(columns []string) string {
	if r.t.hasPart() && !slices.Contains(columns, r.t.Keys[0]) {
		return r.own(r.names.Part)
	}
	return r.live()
}

// indexOn returns the relation that an index of the definition is made on.
func (r *renderer) indexOn(x Index) string {
	if x.Unique {
		return r.uniqueOn(x.plainColumns())
	}
	return r.live()
}

// index returns an index of the live table, or of its part.
func (r *renderer) index(x NamedItem[Index], name string) object {
	return object{
		kind: index, id: x.Name, name: name, columns: x.Value.mentions(r.t), unique: x.Value.Unique,
		create: fmt.Sprintf("%s %s\n    ON %s %s", x.Value.verb(), QuoteIdent(name), r.indexOn(x.Value), x.Value.clause()),
		drop:   "DROP INDEX " + r.own(name),
	}
}

// mentions returns the columns that the index depends on.
func (x Index) mentions(t *Table) []string {
	out := slices.Concat(x.plainColumns(), x.Include, t.mentioned(x.Where))
	for _, c := range x.Columns {
		out = append(out, t.mentioned(c.Expression)...)
	}
	return out
}

func (x Index) verb() string {
	if x.Unique {
		return "CREATE UNIQUE INDEX"
	}
	return "CREATE INDEX"
}

// clause is what comes after the relation of an index.
func (x Index) clause() string {
	columns := make([]string, len(x.Columns))
	for i, c := range x.Columns {
		columns[i] = c.clause()
	}
	out := fmt.Sprintf("(%s)", strings.Join(columns, ", "))
	if x.Method != "" {
		out = fmt.Sprintf("USING %s %s", QuoteIdent(x.Method), out)
	}
	out += includeClause(x.Include)
	if x.NullsNotDistinct {
		out += "\n    NULLS NOT DISTINCT"
	}
	if x.Where != "" {
		out += fmt.Sprintf("\n    WHERE (%s)", x.Where)
	}
	return out
}

func (c IndexColumn) clause() string {
	out := QuoteIdent(c.Column)
	if c.Expression != "" {
		out = fmt.Sprintf("(%s)", c.Expression)
	}
	if c.Collation != "" {
		out += " COLLATE " + sqlName(c.Collation)
	}
	if c.Opclass != "" {
		out += " " + sqlName(c.Opclass)
	}
	if c.Order != "" {
		out += " " + strings.ToUpper(c.Order)
	}
	if c.Nulls != "" {
		out += " NULLS " + strings.ToUpper(c.Nulls)
	}
	return out
}

func includeClause(columns []string) string {
	if len(columns) == 0 {
		return ""
	}
	return fmt.Sprintf(" INCLUDE (%s)", quoteList(columns))
}

// clause is the constraint without its name.
func (u Unique) clause() string {
	out := "UNIQUE "
	if u.NullsNotDistinct {
		out += "NULLS NOT DISTINCT "
	}
	return out + fmt.Sprintf("(%s)", quoteList(u.Columns)) + includeClause(u.Include) + deferrableClause(u.Deferrable)
}

func deferrableClause(when string) string {
	switch when {
	case "deferred":
		return " DEFERRABLE INITIALLY DEFERRED"
	case "immediate":
		return " DEFERRABLE"
	}
	return ""
}

// foreignKey returns a foreign key of the live table. It is never a line of
// CREATE TABLE: what it references may come later in the same migration.
func (r *renderer) foreignKey(f NamedItem[ForeignKey], name string) object {
	o := r.constraint(foreignKey, f.Name, r.live(), name, f.Value.clause(r.t.Schema), f.Value.Columns)
	o.inline = ""
	return o
}

// clause is the constraint without its name; schema is that of the table.
func (f ForeignKey) clause(schema string) string {
	out := fmt.Sprintf("FOREIGN KEY (%s)\n    REFERENCES %s", quoteList(f.Columns), sqlName(oneName(f.References, schema)))
	if len(f.To) > 0 {
		out += fmt.Sprintf(" (%s)", quoteList(f.To))
	}
	if f.Match != "" {
		out += " MATCH " + strings.ToUpper(f.Match)
	}
	if f.OnDelete != "" {
		out += " ON DELETE " + strings.ToUpper(f.OnDelete)
	}
	if f.OnUpdate != "" {
		out += " ON UPDATE " + strings.ToUpper(f.OnUpdate)
	}
	return out + deferrableClause(f.Deferrable)
}

// requirements returns the statement that refuses a server which is too old for
// the table, if there are such.
func (r *renderer) requirements() []string {
	nulls := slices.ContainsFunc(r.t.Indexes, func(x NamedItem[Index]) bool { return x.Value.NullsNotDistinct }) ||
		slices.ContainsFunc(r.t.Unique, func(u NamedItem[Unique]) bool { return u.Value.NullsNotDistinct })
	if !nulls {
		return nil
	}
	return []string{fmt.Sprintf("SELECT cs9.require_server(150000, 'nulls_not_distinct', %s, %s)", QuoteLiteral(r.t.Schema), QuoteLiteral(r.t.Name))}
}
