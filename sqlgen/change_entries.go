package sqlgen

import (
	"reflect"
	"slices"
)

// entryRenames are the entries of a table that are declared to be others under
// another name.
type entryRenames struct{ indexes, unique, checks, foreignKeys []rename }

// entriesRenamed compares a table of the lock with a definition that may say, by
// was, what its entries were called.
func entriesRenamed(from, declared *Table) entryRenames {
	return entryRenames{
		indexes:     renamesOf(from.Indexes, declared.Indexes),
		unique:      renamesOf(from.Unique, declared.Unique),
		checks:      renamesOf(from.Checks, declared.Checks),
		foreignKeys: renamesOf(from.ForeignKeys, declared.ForeignKeys),
	}
}

func renamesOf[T tableEntry](from, declared Named[T]) []rename {
	var names []string
	for _, item := range from {
		names = append(names, item.Name)
	}
	var wanted []rename
	for _, item := range declared {
		wanted = append(wanted, rename{item.Value.formerly(), item.Name})
	}
	return possibleRenames(names, wanted)
}

func (e entryRenames) reversed() entryRenames {
	return entryRenames{
		indexes: reversedRenames(e.indexes), unique: reversedRenames(e.unique),
		checks: reversedRenames(e.checks), foreignKeys: reversedRenames(e.foreignKeys),
	}
}

// takeNames gives what stays as it is in t, the table that the change begins
// with, the names that it has after it. What changes in itself is dropped and
// made anew, and needs no name before. So does what is to have a name that
// something else has until then.
func (c tableChange) takeNames(t *Table) {
	taken := NamesOf(t).all()
	free := func(before, after string) bool {
		ok := before == after || !taken[after]
		taken[after] = true
		return ok
	}
	if named := *t; slices.Equal(t.Keys, c.to.Keys) {
		named.PrimaryKeyName = c.to.PrimaryKeyName
		if free(primaryKeyName(t), primaryKeyName(&named)) {
			t.PrimaryKeyName = c.to.PrimaryKeyName
		}
	}
	t.Indexes = takeEntryNames(t.Name, t.Indexes, c.to.Indexes, c.entries.indexes, free)
	t.Unique = takeEntryNames(t.Name, t.Unique, c.to.Unique, c.entries.unique, free)
	t.Checks = takeEntryNames(t.Name, t.Checks, c.to.Checks, c.entries.checks, free)
	t.ForeignKeys = takeEntryNames(t.Name, t.ForeignKeys, c.to.ForeignKeys, c.entries.foreignKeys, free)
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		if after := c.to.Column(t.Columns[i].Name); after != nil && after.Identity != "" {
			t.Columns[i].Sequence = after.Sequence
		}
	}
}

// all returns the names of the live table's relations and constraints.
func (n Names) all() map[string]bool {
	out := map[string]bool{n.PrimaryKey: true}
	for _, named := range []Named[string]{n.Indexes, n.Unique, n.Checks, n.ForeignKeys, n.Partitions, n.Sequences} {
		for _, item := range named {
			out[item.Value] = true
		}
	}
	return out
}

// changedEntry is an entry that can be compared with another one.
type changedEntry[T any] interface {
	tableEntry
	unnamed() T
}

func takeEntryNames[T changedEntry[T]](table string, was, is Named[T], renames []rename, free func(before, after string) bool) Named[T] {
	out := slices.Clone(was)
	for i := range out {
		item := &out[i]
		id := item.Name
		for _, r := range renames {
			if r.from == id {
				id = r.to
			}
		}
		after, ok := is.Get(id)
		if !ok || !reflect.DeepEqual(item.Value.unnamed(), after.unnamed()) {
			continue
		}
		named := NamedItem[T]{Name: id, Value: after}
		if free(nameOf(table, *item), nameOf(table, named)) {
			*item = named
		}
	}
	return out
}

// movedTable is a table that gets another name, or whose columns do. Foreign keys
// of other tables follow by themselves.
type movedTable struct {
	from, to string // as in ForeignKey.References
	columns  []rename
}

func (m movedTable) reversed() movedTable {
	return movedTable{m.to, m.from, reversedRenames(m.columns)}
}

// movedBy returns what other tables' foreign keys follow.
func movedBy(changes []tableChange) []movedTable {
	var out []movedTable
	for _, c := range changes {
		if c.moved() || len(c.renames) > 0 {
			out = append(out, movedTable{JoinName(c.from.Schema, c.from.Name), JoinName(c.to.Schema, c.to.Name), c.renames})
		}
	}
	return out
}

// followed returns a foreign key as it is when all tables have their names.
func (c tableChange) followed(f ForeignKey) ForeignKey {
	i := slices.IndexFunc(c.others, func(m movedTable) bool { return m.from == f.References })
	if i < 0 {
		return f
	}
	f.References = c.others[i].to
	for _, r := range c.others[i].columns {
		f.To = renamedIn(f.To, r)
	}
	return f
}

// follows reports whether a foreign key follows another table: then the table is
// registered anew, because its definition is another one.
func (c tableChange) follows() bool {
	return !reflect.DeepEqual(c.from.ForeignKeys, mapped(c.from.ForeignKeys, c.followed))
}
