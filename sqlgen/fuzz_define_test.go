package sqlgen

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
)

// keyTypes are types that a table can be split by; the others are for any column.
var (
	keyTypes   = []string{"text", "TEXT", "integer", "bigint", "date", "timestamptz", "boolean", "uuid", "numeric(10,2)", "varchar(20)", "char(3)"}
	otherTypes = []string{"DOUBLE", "DATETIME", "jsonb", "text[]", "smallint", "int8", "numeric", "varchar(9)", "timestamp without time zone", `"char"`, "interval day to second(3)"}
)

func (c *chooser) column(t *Table, key bool) Column {
	var taken []string
	for _, other := range t.Columns {
		taken = append(taken, other.Name)
	}
	out := Column{Name: c.free(taken), Comment: c.maybe(c.text), NotNull: c.oneIn(4), Type: of(c, keyTypes...)}
	if !key {
		switch c.n(3) {
		case 0:
			out.Type = of(c, otherTypes...)
		case 1:
			out.Type = of(c, "", c.quoted()+".") + c.quoted() + of(c, "", "[]")
		}
	}
	switch c.n(6) {
	case 0:
		out.Default = of(c, c.literal(), c.expression(&Table{}), "0", "now()")
	case 1:
		if !key {
			out.Generated = c.expression(t)
		}
	case 2:
		if !key || c.oneIn(4) {
			out.Type, out.Identity, out.Sequence = of(c, "smallint", "INTEGER", "bigint"), of(c, "always", "by default"), c.maybe(c.name)
		}
	}
	if c.oneIn(4) {
		out.Collation = of(c, "C", c.object())
	}
	return out
}

// table returns a table that may reference another one.
func (c *chooser) table(other *Table) Table {
	var t Table
	if c.oneIn(4) {
		t.Access, t.Grouping, t.Variant = c.nameOf(20), c.nameOf(20), c.nameOf(20)
	} else {
		t.Schema, t.Name = c.name(), c.name()
	}
	t.Comment = c.maybe(c.text)
	keys := 1 + c.n(2)
	for i := range keys + 1 + c.n(4) {
		t.Columns = append(t.Columns, c.column(&t, i < keys))
		if i < keys {
			t.Keys = append(t.Keys, t.Columns[i].Name)
		}
	}
	if c.oneIn(4) { // any column may be in the key
		t.Keys = append(t.Keys, t.Columns[len(t.Columns)-1].Name)
	}
	t.PrimaryKeyName = c.maybe(c.name)
	t.Publish = of(c, "", "batched", "atomic", "swap", "swap_or_atomic")
	t.Adopt = c.oneIn(6)
	if c.oneIn(2) {
		t.Partitions = c.partitions(&t, 0)
	}
	if c.oneIn(2) {
		t.Roles = &Roles{Reader: c.maybe(c.name), Runner: c.maybe(c.name), Publisher: c.name()}
	}
	for range c.n(3) {
		t.Indexes = t.Indexes.add(c.name(), c.index(&t))
	}
	for range c.n(2) {
		t.Unique = t.Unique.add(c.name(), c.unique(&t))
	}
	for range c.n(3) {
		t.Checks = t.Checks.add(c.name(), c.check(&t))
	}
	for range c.n(2) {
		if !t.swaps() {
			t.ForeignKeys = t.ForeignKeys.add(c.name(), c.foreignKey(&t, other))
		}
	}
	return t
}

// columns returns some columns, and all by which the table is split.
func (c *chooser) columns(t *Table) []string {
	out := t.partitionColumns()
	for range 1 + c.n(2) {
		if name := of(c, t.Columns...).Name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (c *chooser) index(t *Table) Index {
	x := Index{Name: c.maybe(c.name), Unique: c.oneIn(3)}
	for _, name := range c.columns(t) {
		column := IndexColumn{Column: name}
		if c.oneIn(3) && !x.Unique {
			column = IndexColumn{Expression: c.expression(t)}
		}
		if c.oneIn(2) {
			column.Collation, column.Opclass = c.maybe(c.object), c.maybe(c.object)
			column.Order, column.Nulls = of(c, "", "asc", "desc"), of(c, "", "first", "last")
		}
		x.Columns = append(x.Columns, column)
	}
	if c.oneIn(3) {
		x.Include = []string{of(c, t.Columns...).Name}
	}
	if c.oneIn(3) {
		x.Where = c.expression(t)
	}
	x.NullsNotDistinct = x.Unique && c.oneIn(2)
	if !x.Unique {
		x.Method = of(c, "", "btree", "hash", "brin", c.name())
		for i := range x.Columns {
			if x.Method != "" && x.Method != "btree" {
				x.Columns[i].Order, x.Columns[i].Nulls = "", ""
			}
		}
	}
	return x
}

func (c *chooser) unique(t *Table) Unique {
	u := Unique{Columns: c.columns(t), NullsNotDistinct: c.oneIn(3), Deferrable: of(c, "", "deferred", "immediate"), Name: c.maybe(c.name)}
	if c.oneIn(3) {
		u.Include = []string{of(c, t.Columns...).Name}
	}
	return u
}

func (c *chooser) check(t *Table) Check {
	return Check{Expression: c.expression(t), Name: c.maybe(c.name)}
}

func (c *chooser) foreignKey(t, other *Table) ForeignKey {
	actions := []string{"", "cascade", "set null", "set default", "restrict", "no action"}
	f := ForeignKey{
		Columns: []string{of(c, t.Columns...).Name}, References: c.object(), OnDelete: of(c, actions...), OnUpdate: of(c, actions...),
		Deferrable: of(c, "", "deferred", "immediate"), Match: of(c, "", "full", "simple"), Name: c.maybe(c.name),
	}
	if other != nil && c.oneIn(2) {
		f.References, f.To = JoinName(other.Schema, other.Name), []string{of(c, other.Columns...).Name}
	} else if c.oneIn(2) {
		f.To = []string{c.name()}
	}
	return f
}

// values returns values of a column, in ascending order as far as its type has one.
func (c *chooser) values(t *Table, column string, count int) []string {
	var out []string
	kind := valueKindOf(t.Column(column).SQLType())
	for i := range count {
		switch kind {
		case kindInteger:
			out = append(out, of(c, "", "0")+fmt.Sprint(i+1))
		case kindNumeric:
			out = append(out, fmt.Sprintf("%d.%s", i, of(c, "5", "50")))
		case kindDate:
			out = append(out, fmt.Sprintf("2026-01-%02d", i+1))
		case kindTimestamptz:
			out = append(out, fmt.Sprintf("2026-01-%02d 00:00:00Z", i+1))
		case kindBoolean:
			out = append(out, []string{"false", "true"}[i%2])
		case kindUUID:
			out = append(out, fmt.Sprintf("01234567-89ab-cdef-0123-4567890000%02d", i))
		default:
			out = append(out, c.text())
		}
	}
	return out
}

// partitions returns a way to split a table, or a part of it.
func (c *chooser) partitions(t *Table, level int) *Partitions {
	column := of(c, t.Keys...)
	p := &Partitions{By: of(c, byList, byRange, byHash), Columns: []string{column}}
	if p.By != byList && len(t.Keys) > 1 && c.oneIn(2) {
		p.Columns = t.Keys[:2]
	}
	count := 1 + c.n(3)
	switch p.By {
	case byList:
		values := c.values(t, column, count)
		if c.oneIn(3) {
			return &Partitions{Column: column, Values: values}
		}
		for i, value := range values {
			p.Parts = append(p.Parts, Part{Values: []string{value}, NullToo: i == 0 && c.oneIn(3)})
		}
	case byRange:
		p.Parts = c.ranges(t, p.Columns, count)
	case byHash:
		p.Parts = of(c, []Part{{Modulus: 1}}, []Part{{Modulus: 2}, {Modulus: 2, Remainder: 1}}, []Part{{Modulus: 4, Remainder: 3}, {Modulus: 2}, {Modulus: 4, Remainder: 1}})
	}
	if p.By != byHash && c.oneIn(2) {
		p.Parts = append(p.Parts, Part{Default: true})
	}
	p.Parts = slices.Clone(p.Parts)
	for i := range p.Parts {
		part := &p.Parts[i]
		part.Name, part.Table = c.name(), c.maybe(c.name)
		if level == 0 && c.oneIn(4) {
			part.Partitions = c.partitions(t, 1)
		}
	}
	return p
}

// ranges returns parts that touch, some without a bound.
func (c *chooser) ranges(t *Table, columns []string, count int) []Part {
	limits := make([][]string, count+1)
	for _, column := range columns {
		for i, value := range c.values(t, column, count+1) {
			limits[i] = append(limits[i], value)
		}
	}
	all := func(word string) []string { return slices.Repeat([]string{word}, len(columns)) }
	if c.oneIn(3) {
		limits[0] = all(minValue)
	}
	if c.oneIn(3) {
		limits[count] = all(maxValue)
	}
	for _, bound := range [][]string{limits[0], limits[count]} {
		if last := len(columns) - 1; c.oneIn(3) && bound[0] != minValue && last > 0 {
			bound[last] = of(c, minValue, maxValue)
		}
	}
	var out []Part
	for i := range count {
		if i == 0 || !c.oneIn(4) { // a gap now and then
			out = append(out, Part{From: limits[i], To: limits[i+1]})
		}
	}
	return out
}

var remainderLess = regexp.MustCompile(`(?m)^( *)(modulus: [0-9]+)\n( *)(remainder)?`)

// definitionText returns a definition file of tables.
func definitionText(tables []Table) []byte {
	var w lockWriter
	w.value(reflect.ValueOf(File{Version: formatVersion, Tables: tables}), 0)
	// 0 is written nowhere else, and means nothing but this
	return []byte(remainderLess.ReplaceAllStringFunc(w.String(), func(lines string) string {
		m := remainderLess.FindStringSubmatch(lines)
		if m[4] != "" {
			return lines
		}
		return m[1] + m[2] + "\n" + m[1] + "remainder: 0\n" + m[3]
	}))
}

// loadTables returns tables as a file that holds them is read; false when they
// are refused.
func loadTables(tables []Table) ([]Table, []Problem) {
	loaded, problems := loadFile("fuzz.yaml", definitionText(tables))
	return loaded, append(problems, validateTogether(loaded)...)
}
