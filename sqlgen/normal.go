package sqlgen

import (
	"slices"
)

// normalised returns a table as the lock file and the diff know it: what it
// means, however it was written. Schema and name are filled, the publish mode
// too, types and names have one spelling, what is the default is left out, and
// what anything was called is forgotten.
func normalised(t *Table) Table {
	n := Table{
		Schema: t.Schema, Name: t.Name, Comment: t.Comment, Columns: slices.Clone(t.Columns), Keys: t.Keys, PrimaryKeyName: t.PrimaryKeyName,
		Indexes:     mapped(t.Indexes, normalIndex),
		Unique:      mapped(t.Unique, normalUnique),
		Checks:      mapped(t.Checks, func(c Check) Check { c.Was = ""; return c }),
		ForeignKeys: mapped(t.ForeignKeys, func(f ForeignKey) ForeignKey { return normalForeignKey(f, t.Schema) }),
		Partitions:  t.Partitions.Short(), Publish: publishMode(t), Adopt: t.Adopt, SearchPath: t.SearchPath,
	}
	for i := range n.Columns {
		c := &n.Columns[i]
		c.Type = oneSpelling(c.SQLType())
		c.NotNull = c.NotNull || c.Identity != ""
		c.Was = ""
		c.Collation = oneName(c.Collation, "")
	}
	if t.Roles != nil && *t.Roles != (Roles{}) {
		n.Roles = t.Roles
	}
	return n
}

// mapped returns the entries with other values.
func mapped[T any](entries Named[T], change func(T) T) Named[T] {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Value = change(out[i].Value)
	}
	return out
}

func normalIndex(x Index) Index {
	x.Was = ""
	if x.Method == "btree" {
		x.Method = ""
	}
	x.Columns = slices.Clone(x.Columns)
	for i := range x.Columns {
		c := &x.Columns[i]
		c.Collation, c.Opclass = oneName(c.Collation, ""), oneName(c.Opclass, "")
		if c.Order == "asc" {
			c.Order = ""
		}
		if c.Order == "desc" && c.Nulls == "first" || c.Order == "" && c.Nulls == "last" {
			c.Nulls = ""
		}
	}
	return x
}

func normalUnique(u Unique) Unique {
	u.Was = ""
	return u
}

func normalForeignKey(f ForeignKey, schema string) ForeignKey {
	f.Was = ""
	f.References = oneName(f.References, schema)
	if f.OnDelete == "no action" {
		f.OnDelete = ""
	}
	if f.OnUpdate == "no action" {
		f.OnUpdate = ""
	}
	if f.Match == "simple" {
		f.Match = ""
	}
	return f
}
