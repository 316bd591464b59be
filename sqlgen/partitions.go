package sqlgen

import "slices"

// Partitions say how a [Table], or a part of one, is split. They have a short
// form, Column and Values, which is LIST with one partition a value, and a long
// one, By, Columns and Parts. One of the two is filled; both mean the same
// wherever they can.
type Partitions struct {
	Column  string   `yaml:"column" jsonschema:"minLength=1" jsonschema_description:"Short form: the column whose value says in which partition a row lives. Must be one of the keys."`
	Values  []string `yaml:"values,scalar" jsonschema:"minItems=1" jsonschema_description:"Short form: the values, one partition each. A row with another value is refused."`
	By      string   `yaml:"by" json:",omitempty" jsonschema:"enum=list,enum=range,enum=hash" jsonschema_description:"Long form: how rows find their partition: list, range or hash."`
	Columns []string `yaml:"columns" json:",omitempty" jsonschema:"minItems=1,minLength=1" jsonschema_description:"Long form: the columns that say in which partition a row lives, one for list. They must be among the keys."`
	Parts   []Part   `yaml:"parts" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"Long form: the partitions."`
}

// Part is one partition. Which of the fields say what it takes depends on how
// the table is split: Values and NullToo for list, From and To for range,
// Modulus and Remainder for hash; Default takes what no other part does.
type Part struct {
	Name       string      `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"The part's name of its own, from which the name of the partition is derived."`
	Values     []string    `yaml:"values,scalar" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"For list: the values that the part takes."`
	NullToo    bool        `yaml:"null_too" json:",omitempty" jsonschema_description:"For list: the part takes NULL."`
	From       []string    `yaml:"from,scalar" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"For range: the first values that the part takes, one for each column. MINVALUE is below every value."`
	To         []string    `yaml:"to,scalar" json:",omitempty" jsonschema:"minItems=1" jsonschema_description:"For range: the first values after the part, one for each column. MAXVALUE is above every value."`
	Modulus    int         `yaml:"modulus" json:",omitempty" jsonschema:"minimum=1" jsonschema_description:"For hash: what the hash value is divided by."`
	Remainder  int         `yaml:"remainder" json:",omitempty" jsonschema:"minimum=0" jsonschema_description:"For hash: the remainder of the rows that the part takes."`
	Default    bool        `yaml:"default" json:",omitempty" jsonschema_description:"For list and range: the part takes what no other part does."`
	Table      string      `yaml:"table" json:",omitempty" jsonschema:"minLength=1" jsonschema_description:"The exact name of the partition, instead of the derived one."`
	Partitions *Partitions `yaml:"partitions" json:",omitempty" jsonschema_description:"Splits the part once more."`
}

// The ways to split a table.
const (
	byList  = "list"
	byRange = "range"
	byHash  = "hash"
)

// The words that stand for no value in the bounds of a range.
const (
	minValue = "MINVALUE"
	maxValue = "MAXVALUE"
)

// Long returns the same in the long form; nil for nil. What is in the short form
// has parts that are called like their values.
func (p *Partitions) Long() *Partitions {
	if p == nil || p.By != "" || len(p.Parts) > 0 {
		return p
	}
	long := &Partitions{By: byList, Columns: []string{p.Column}}
	for _, value := range p.Values {
		long.Parts = append(long.Parts, Part{Name: value, Values: []string{value}})
	}
	return long
}

// Short returns the same in the short form where that can say it, for each
// level by itself; nil for nil.
func (p *Partitions) Short() *Partitions {
	if p == nil || p.By == "" && len(p.Parts) == 0 {
		return p
	}
	out := *p
	out.Parts = slices.Clone(p.Parts)
	for i := range out.Parts {
		out.Parts[i].Partitions = out.Parts[i].Partitions.Short()
	}
	if p.By != byList || len(p.Columns) != 1 {
		return &out
	}
	short := &Partitions{Column: p.Columns[0]}
	for _, part := range p.Parts {
		if len(part.Values) != 1 || part.Values[0] != part.Name || part.NullToo || part.Default || part.Table != "" || part.Partitions != nil {
			return &out
		}
		short.Values = append(short.Values, part.Name)
	}
	return short
}

// partitionColumns returns the columns by which the table and its parts are
// split, each once.
func (t *Table) partitionColumns() []string {
	var out []string
	add := func(p *Partitions) {
		for _, column := range p.Columns {
			if !slices.Contains(out, column) {
				out = append(out, column)
			}
		}
	}
	if t.Partitions == nil {
		return nil
	}
	long := t.Partitions.Long()
	add(long)
	for _, part := range long.Parts {
		if part.Partitions != nil {
			add(part.Partitions.Long())
		}
	}
	return out
}

// defaultPart returns the part that takes what no other does; nil when there is
// none. The partitions are in the long form.
func (p *Partitions) defaultPart() *Part {
	i := slices.IndexFunc(p.Parts, func(part Part) bool { return part.Default })
	if i < 0 {
		return nil
	}
	return &p.Parts[i]
}

// partitionTable is one of the tables that a table is split into.
type partitionTable struct {
	id     string // among those of the table; keeps when the table is renamed
	table  string // its name
	parent string // name of the table that it is a partition of
	part   Part
	of     *Part       // the part that it is a part of; nil for one of the table itself
	among  *Partitions // in the long form: the part and its siblings
	beside string      // name of the default partition beside it; "" for none
	path   string      // where the definition says it: "partitions.values[0]"
	short  bool        // in the short form, where a part is called like its value
}

// partitionTables returns the tables that a table is split into, each before
// those that it is split into itself.
func (t *Table) partitionTables() []partitionTable {
	if t.Partitions == nil {
		return nil
	}
	top := partitionTable{table: t.Name, path: "partitions"}
	return top.split(t.Partitions, t.Name)
}

// split returns the tables that p is split into. Their names are derived from
// base, whatever the exact name of p is.
func (p partitionTable) split(partitions *Partitions, base string) []partitionTable {
	var out []partitionTable
	long := partitions.Long()
	nameOf := func(part *Part) string {
		if part.Table != "" {
			return part.Table
		}
		return derive(base+"_"+part.Name, "")
	}
	rest := long.defaultPart()
	for i := range long.Parts {
		part := &long.Parts[i]
		one := partitionTable{
			id: part.Name, table: nameOf(part), parent: p.table, part: *part, among: long,
			path: indexed(p.path+".parts", i), short: long != partitions,
		}
		if rest != nil && !part.Default {
			one.beside = nameOf(rest)
		}
		if one.short {
			one.path = indexed(p.path+".values", i)
		}
		if p.among != nil {
			one.id, one.of = p.id+"\x00"+part.Name, &p.part
		}
		out = append(out, one)
		if part.Partitions != nil {
			inner := one
			inner.path += ".partitions"
			out = append(out, inner.split(part.Partitions, base+"_"+part.Name)...)
		}
	}
	return out
}
