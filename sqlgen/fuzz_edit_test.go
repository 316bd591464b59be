package sqlgen

import "slices"

// edited returns tables with a few things changed: some renamed, as was says, and
// some without a word.
func (c *chooser) edited(tables []Table) []Table {
	var out []Table
	for i := range tables {
		t := tables[i].bare()
		for range c.n(4) {
			t = c.editTable(t, &tables[0])
		}
		out = append(out, t)
	}
	switch c.n(8) {
	case 0:
		out = append(out, c.table(&out[0]))
	case 1:
		out = out[:1]
	case 2: // two tables change their names
		a, b := &out[0], &out[len(out)-1]
		if a != b && a.Was == "" && b.Was == "" {
			a.Was, b.Was = a.Schema+"."+a.Name, b.Schema+"."+b.Name
			a.Schema, a.Name, b.Schema, b.Name = b.Schema, b.Name, a.Schema, a.Name
		}
	}
	return out
}

// bare returns the table as a file that says nothing of what was would hold it,
// with lists of its own.
func (t Table) bare() Table {
	t.Access, t.Grouping, t.Variant, t.Was = "", "", "", ""
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		t.Columns[i].Was = ""
	}
	t = t.withColumnRenamed(rename{}) // which copies all lists
	t.Indexes = mapped(t.Indexes, func(x Index) Index { x.Was = ""; return x })
	t.Unique = mapped(t.Unique, func(u Unique) Unique { u.Was = ""; return u })
	t.Checks = mapped(t.Checks, func(c Check) Check { c.Was = ""; return c })
	t.ForeignKeys = mapped(t.ForeignKeys, func(f ForeignKey) ForeignKey { f.Was = ""; return f })
	return t
}

func (c *chooser) editTable(t Table, other *Table) Table {
	switch c.n(12) {
	case 0:
		if t.Was == "" {
			t.Was = t.Schema + "." + t.Name
		}
		t.Name = c.name()
		if c.oneIn(3) {
			t.Schema = c.name()
		}
	case 1, 2, 3:
		return c.editColumns(t)
	case 4:
		t.Indexes = editEntries(c, t.Indexes, func() Index { return c.index(&t) }, func(x *Index, was string) { x.Was = was })
	case 5:
		t.Unique = editEntries(c, t.Unique, func() Unique { return c.unique(&t) }, func(u *Unique, was string) { u.Was = was })
	case 6:
		t.Checks = editEntries(c, t.Checks, func() Check { return c.check(&t) }, func(k *Check, was string) { k.Was = was })
	case 7:
		t.ForeignKeys = editEntries(c, t.ForeignKeys, func() ForeignKey { return c.foreignKey(&t, other) }, func(f *ForeignKey, was string) { f.Was = was })
	case 8, 9:
		t.Partitions = c.editParts(&t, t.Partitions)
	case 10:
		t.Publish = of(c, "", "batched", "atomic", "swap", "swap_or_atomic")
		if t.swaps() {
			t.ForeignKeys = nil
		}
	case 11:
		switch c.n(3) {
		case 0:
			t.Comment = c.maybe(c.text)
		case 1:
			t.Roles = &Roles{Reader: c.maybe(c.name), Runner: c.maybe(c.name), Publisher: c.maybe(c.name)}
			if *t.Roles == (Roles{}) {
				t.Roles = nil
			}
		case 2:
			t.PrimaryKeyName = c.maybe(c.name)
		}
	}
	return t
}

// otherWay is what is near a type and a kind of identity: a little more, or as much.
var otherWay = map[string][2]string{
	"smallintalways": {"integer", "always"}, "INTEGERalways": {"integer", "by default"}, "bigintby default": {"bigint", "always"}, "bigintalways": {"bigint", ""},
	"numeric(10,2)": {"numeric(12,2)", ""}, "numeric(12,2)": {"numeric(13,3)", ""}, "varchar(9)": {"text", ""}, "varchar(20)": {"varchar(30)", ""},
	"integer": {"bigint", ""}, "bigint": {"numeric", ""}, "int8": {"bigint", "always"}, "smallint": {"int", ""},
}

func (c *chooser) editColumns(t Table) Table {
	at := c.n(len(t.Columns))
	column := &t.Columns[at]
	was := column.Name
	switch c.n(6) {
	case 0, 1: // renamed; a key word in an expression would be taken for the column
		if keywords[was] {
			break
		}
		t = t.withColumnRenamed(rename{was, c.free(nil)})
		if t.Columns[at].Was == "" && c.oneIn(2) {
			t.Columns[at].Was = was
		}
	case 2: // two columns change their names
		other := t.Columns[c.n(len(t.Columns))].Name
		if other != was && !keywords[was] && !keywords[other] && column.Was == "" && t.Column(other).Was == "" {
			t.Columns[at].Was, t.Column(other).Was = was, other
			t = t.withColumnRenamed(rename{was, "\x00"}).withColumnRenamed(rename{other, was}).withColumnRenamed(rename{"\x00", other})
		}
	case 3:
		if again := otherWay[column.Type+column.Identity]; again != [2]string{} && c.oneIn(2) {
			column.Type, column.Identity = again[0], again[1]
			break
		}
		after := c.column(&t, slices.Contains(t.Keys, was))
		after.Name, after.Was = was, column.Was
		*column = after
	case 4:
		added := c.column(&t, false)
		t.Columns = slices.Insert(t.Columns, c.n(len(t.Columns)+1), added)
		if c.oneIn(4) {
			t.Keys = append(t.Keys, added.Name)
		}
	case 5:
		if len(t.Columns) > 1 && !slices.Contains(t.Keys, was) {
			return t.without(was)
		}
		if len(t.Keys) > 1 {
			t.Keys = t.Keys[1:]
		}
	}
	return t
}

// without returns the table without a column and all that names it.
func (t Table) without(name string) Table {
	has := func(names []string) bool { return slices.Contains(names, name) }
	t.Indexes = slices.DeleteFunc(t.Indexes, func(x NamedItem[Index]) bool { return has(x.Value.mentions(&t)) })
	t.Unique = slices.DeleteFunc(t.Unique, func(u NamedItem[Unique]) bool { return has(u.Value.Columns) || has(u.Value.Include) })
	t.Checks = slices.DeleteFunc(t.Checks, func(c NamedItem[Check]) bool { return has(t.mentioned(c.Value.Expression)) })
	t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(f NamedItem[ForeignKey]) bool { return has(f.Value.Columns) })
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return c.Name == name || has(t.mentioned(c.Generated)) })
	return t
}

// editEntries adds, drops, renames or replaces an entry, or has two change names.
func editEntries[T tableEntry](c *chooser, entries Named[T], entry func() T, setWas func(*T, string)) Named[T] {
	if len(entries) == 0 || c.oneIn(5) {
		return entries.add(c.name(), entry())
	}
	at, other := c.n(len(entries)), c.n(len(entries))
	switch c.n(4) {
	case 0:
		return slices.Delete(entries, at, at+1)
	case 1:
		if was := entries[at].Name; entries[at].Value.formerly() == "" {
			entries[at].Name = c.name()
			setWas(&entries[at].Value, was)
		}
	case 2:
		entries[at].Value = entry()
	case 3:
		a, b := &entries[at], &entries[other]
		if at != other && a.Value.formerly() == "" && b.Value.formerly() == "" {
			setWas(&a.Value, a.Name)
			setWas(&b.Value, b.Name)
			a.Name, b.Name = b.Name, a.Name
		}
	}
	return entries
}

// editParts changes partitions; seldom how rows find theirs, which is refused.
func (c *chooser) editParts(t *Table, p *Partitions) *Partitions {
	if p == nil || c.oneIn(12) {
		return of(c, nil, c.partitions(t, 0))
	}
	out := *p.Long()
	out.Parts = slices.Clone(out.Parts)
	at := c.n(len(out.Parts))
	part, other := &out.Parts[at], &out.Parts[c.n(len(out.Parts))]
	switch c.n(7) {
	case 0:
		part.Name = c.name()
	case 1:
		part.Table = c.maybe(c.name)
	case 2:
		part.Name, other.Name = other.Name, part.Name
	case 3:
		part.Table, other.Table = other.Table, part.Table
	case 4:
		if len(out.Parts) > 1 {
			out.Parts = slices.Delete(out.Parts, at, at+1)
		}
	case 5:
		more := Part{Name: c.name(), Default: true}
		if out.By == byList && out.defaultPart() != nil || c.oneIn(3) {
			more = Part{Name: more.Name, Values: c.values(t, out.Columns[0], 9)[8:]}
		}
		out.Parts = append(out.Parts, more)
	case 6:
		switch {
		case part.Partitions != nil:
			part.Partitions = c.editParts(t, part.Partitions)
		case out.By == byList && !part.Default:
			part.Values = append(slices.Clone(part.Values), c.values(t, out.Columns[0], 8)[7])
		case out.By == byRange && !part.Default:
			part.From, part.To = slices.Repeat([]string{minValue}, len(part.From)), slices.Repeat([]string{maxValue}, len(part.To))
		}
	}
	return &out
}
