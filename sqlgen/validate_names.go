package sqlgen

import "fmt"

// validateTogether returns the problems between the tables of all files: a
// table defined twice, and two objects that would get one name.
func validateTogether(tables []Table) []Problem {
	r := &registry{tables: map[[2]string]*Table{}, names: map[objectName]owner{}}
	for i := range tables {
		t := &tables[i]
		if t.Name == "" || t.src.bad[t.path] {
			continue
		}
		id := [2]string{t.Schema, t.Name}
		if first, ok := r.tables[id]; ok {
			r.fail(t, t.path, "the table %s is defined twice, first in %s: rename or remove one of the two", Qualified(t.Schema, t.Name), place(first, first.path))
			continue
		}
		r.tables[id] = t
		r.addTable(t)
	}
	for i := range tables {
		if t := &tables[i]; t.Name != "" && !t.src.bad[t.path] {
			r.checkForeignKeys(t)
		}
	}
	return r.problems
}

// objectName is a name in the space in which it must be unique: relations and
// routines of a schema, constraints of a table.
type objectName struct {
	kind, schema, table, name string
}

// owner is what a name belongs to.
type owner struct {
	table *Table
	what  string // "" for the table itself
	path  string
}

func (o owner) String() string {
	table := Qualified(o.table.Schema, o.table.Name)
	if o.what == "" {
		return "the table " + table
	}
	return o.what + " of " + table
}

type registry struct {
	tables   map[[2]string]*Table
	names    map[objectName]owner
	problems []Problem
}

func (r *registry) addTable(t *Table) {
	n := NamesOf(t)
	r.relation(t, t.Name, "", t.path)
	r.relation(t, n.Staging, "the staging table", t.path)
	r.relation(t, n.PrimaryKey, "the primary key", t.path+".keys")
	r.constraint(t, n.PrimaryKey, "the primary key", t.path+".keys")
	r.constraint(t, n.RoutableCheck, "the check of partition values", t.path)
	for _, index := range n.Indexes {
		r.relation(t, index.Value, fmt.Sprintf("the index %q", index.Name), joinPath(t.path+".indexes", index.Name))
	}
	for _, unique := range n.Unique {
		what, path := fmt.Sprintf("the unique constraint %q", unique.Name), joinPath(t.path+".unique", unique.Name)
		r.relation(t, unique.Value, what, path)
		r.constraint(t, unique.Value, what, path)
	}
	for _, check := range n.Checks {
		r.constraint(t, check.Value, fmt.Sprintf("the check %q", check.Name), joinPath(t.path+".checks", check.Name))
	}
	for _, key := range n.ForeignKeys {
		r.constraint(t, key.Value, fmt.Sprintf("the foreign key %q", key.Name), joinPath(t.path+".foreign_keys", key.Name))
	}
	for _, p := range t.partitionTables() {
		if t.src.badUnder(t.path + "." + p.path) {
			continue
		}
		what := fmt.Sprintf("the partition %q", p.part.Name)
		if p.short {
			what = fmt.Sprintf("the partition of %q", p.part.Name)
		}
		r.relation(t, p.table, what, t.path+"."+p.path)
	}
	if t.hasPart() {
		r.relation(t, n.Part, "the partition that is swapped", t.path+".publish")
	}
	for _, sequence := range n.Sequences {
		r.relation(t, sequence.Value, fmt.Sprintf("the sequence of the column %q", sequence.Name), t.path+".columns")
	}
	r.routine(t, n.Publish, "the publish procedure")
	r.routine(t, n.DeleteStep, "the delete function")
	r.routine(t, n.MoveBatch, "the move function")
	r.routine(t, n.ApplyChanges, "the function that applies what differs")
}

// checkForeignKeys looks at the tables that t references, those that are defined.
// Others may be there all the same.
func (r *registry) checkForeignKeys(t *Table) {
	for _, item := range t.ForeignKeys {
		path := joinPath(t.path+".foreign_keys", item.Name)
		schema, name, err := splitName(oneName(item.Value.References, t.Schema))
		other := r.tables[[2]string{schema, name}]
		if err != nil || other == nil || t.src.badUnder(path) || other.src.badUnder(other.path) {
			continue
		}
		switch {
		case other.swaps():
			r.failValue(t, path+".references", "the table %s is published %s, and no foreign key can reference it: PostgreSQL would look for each reference while a partition is swapped; publish it atomic or batched, or drop the foreign key", Qualified(schema, name), other.Publish)
			continue
		case len(item.Value.To) == 0 && len(item.Value.Columns) != len(other.Keys):
			r.failValue(t, path+".columns", "there are %d columns, and the keys of %s are %d: name as many, or give the referenced ones in to", len(item.Value.Columns), Qualified(schema, name), len(other.Keys))
		}
		for i, column := range item.Value.To {
			if other.Column(column) == nil {
				r.failValue(t, fmt.Sprintf("%s.to[%d]", path, i), "%q is no column of %s (%s): name one of it", column, Qualified(schema, name), place(other, other.path))
			}
		}
	}
}

func (r *registry) relation(t *Table, name, what, path string) {
	r.add(objectName{kind: "relation", schema: t.Schema, name: name}, owner{t, what, path})
}

func (r *registry) routine(t *Table, name, what string) {
	r.add(objectName{kind: "routine", schema: t.Schema, name: name}, owner{t, what, t.path})
}

func (r *registry) constraint(t *Table, name, what, path string) {
	r.add(objectName{kind: "constraint", schema: t.Schema, table: t.Name, name: name}, owner{t, what, path})
}

func (r *registry) add(name objectName, o owner) {
	if o.table.src.bad[o.path] {
		return
	}
	first, ok := r.names[name]
	if !ok {
		r.names[name] = o
		return
	}
	r.fail(o.table, o.path, "%v and %v (%s) would both be named %q: rename one of the two",
		o, first, place(first.table, first.path), name.name)
}

func (r *registry) fail(t *Table, path, format string, args ...any) {
	pos := t.src.at(path)
	if key, ok := t.src.keys[path]; ok {
		pos = key
	}
	r.problems = append(r.problems, Problem{
		File: t.src.file, Line: pos.line, Column: pos.column, Path: path,
		Message: fmt.Sprintf(format, args...),
	})
}

// failValue reports a problem at the value of a part, not at its name.
func (r *registry) failValue(t *Table, path, format string, args ...any) {
	pos := t.src.at(path)
	r.problems = append(r.problems, Problem{
		File: t.src.file, Line: pos.line, Column: pos.column, Path: path,
		Message: fmt.Sprintf(format, args...),
	})
}

// place returns where a part of a table was written, for messages.
func place(t *Table, path string) string {
	return fmt.Sprintf("%s:%d", t.src.file, t.src.at(path).line)
}
