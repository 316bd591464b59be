package inspect

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// maxLevels is how often a definition can split a table.
const maxLevels = 2

var strategies = map[string]string{"l": "list", "r": "range", "h": "hash"}

// swapPart returns the one partition of a table that cs9gen split for the sake
// of the swap alone.
func (b *builder) swapPart() (partition, bool) {
	r, ok := b.c.registered[b.rel.OID]
	parts := b.c.partitions[b.rel.OID]
	if !ok || !strings.HasPrefix(r.Mode, "swap") || len(parts) != 1 || parts[0].Bound != "DEFAULT" || b.c.keys[b.rel.OID].Strategy != "l" {
		return partition{}, false
	}
	derived := sqlgen.NamesOf(&sqlgen.Table{Schema: b.schema, Name: b.rel.Name})
	return parts[0], parts[0].Name == derived.Part
}

// partitions fills in how the table is split.
func (b *builder) partitions(k partitionKey) {
	if _, ok := b.swapPart(); ok {
		return
	}
	long := b.split(k, b.c.partitions[b.rel.OID], 1)
	if len(b.reasons) == 0 {
		b.name(long)
		b.t.Partitions = long.Short()
	}
}

// split returns the partitions of one table in the long form, with the exact
// names of all of them.
func (b *builder) split(k partitionKey, parts []partition, level int) *sqlgen.Partitions {
	out := &sqlgen.Partitions{By: strategies[k.Strategy], Columns: k.Columns}
	switch {
	case level > maxLevels:
		b.refuse("its partitions are split, and theirs are too (BY %s): a definition splits a table and its partitions, no more", k.Definition)
		return out
	case !k.Plain:
		b.refuse("it is split BY %s: a definition splits by columns, with their own collation and default operator class", k.Definition)
		return out
	case len(parts) == 0:
		b.refuse("it is split BY %s, and has no partition: make one", k.Definition)
		return out
	}
	for _, p := range parts {
		if part, ok := b.part(p, k, level); ok {
			out.Parts = append(out.Parts, part)
		}
	}
	slices.SortStableFunc(out.Parts, compareParts)
	return out
}

// part returns one partition; false when it cannot be taken.
func (b *builder) part(p partition, k partitionKey, level int) (sqlgen.Part, bool) {
	name := sqlgen.Qualified(p.Schema, p.Name)
	bound, ok := parseBound(p.Bound)
	out := sqlgen.Part{Default: bound.isDefault, Modulus: bound.modulus, Remainder: bound.remainder, Table: p.Name}
	switch {
	case p.Detaching:
		b.refuse("the partition %s is being detached: ALTER TABLE … DETACH PARTITION … FINALIZE", name)
	case p.Schema != b.schema:
		b.refuse("the partition %s is in another schema: ALTER TABLE … SET SCHEMA", name)
	case p.Persistence != "p":
		b.refuse("the partition %s is UNLOGGED, and a crash would empty it after a publish: ALTER TABLE … SET LOGGED", name)
	case !ok:
		b.refuse("the bounds of the partition %s cannot be read: %s", name, p.Bound)
	case !b.values(bound, k, &out):
		b.refuse("the partition %s has a bound that a definition cannot write: %s", name, p.Bound)
	default:
		b.noteOwn(p, name)
		if sub, split := b.c.keys[p.OID]; split {
			out.Partitions = b.split(sub, b.c.partitions[p.OID], level+1)
		}
		return out, true
	}
	return out, false
}

// values fills in which rows a part takes. A text that reads like one of the
// words of a bound cannot be told from it.
func (b *builder) values(from bound, k partitionKey, to *sqlgen.Part) bool {
	types := map[string]string{}
	for _, c := range b.c.columns[b.rel.OID] {
		types[c.Name] = c.Type
	}
	for _, v := range from.values {
		if v.word == "NULL" {
			to.NullToo = true
			continue
		}
		to.Values = append(to.Values, valueInFile(v.text, types[k.Columns[0]]))
	}
	texts := func(list []boundValue) ([]string, bool) {
		var out []string
		for i, v := range list {
			if v.text == "MINVALUE" || v.text == "MAXVALUE" || i >= len(k.Columns) {
				return nil, false
			}
			out = append(out, v.word+valueInFile(v.text, types[k.Columns[i]]))
		}
		return out, true
	}
	var fromOK, toOK bool
	to.From, fromOK = texts(from.from)
	to.To, toOK = texts(from.to)
	return fromOK && toOK
}

// valueInFile writes the time zone of a time as a definition does: all are UTC.
func valueInFile(text, sqlType string) string {
	if before, ok := strings.CutSuffix(text, "+00"); ok && strings.HasPrefix(sqlType, "timestamp") && strings.HasSuffix(sqlType, "with time zone") {
		return before + "Z"
	}
	return text
}

// noteOwn notes what a partition has that its table does not have.
func (b *builder) noteOwn(p partition, name string) {
	for _, x := range b.c.indexes[p.OID] {
		if !x.Attached && !x.Constraint {
			b.note("the index %s is the partition %s's own: it stays, and is not in the definition", sqlgen.QuoteIdent(x.Name), name)
		}
	}
	for _, c := range b.c.constraints[p.OID] {
		switch {
		case c.Type == "x":
			b.refuse("the partition %s has the exclusion constraint %s, which cannot be proved before a publish: drop it", name, sqlgen.QuoteIdent(c.Name))
		case !c.Inherited && c.Type != "n":
			b.note("the constraint %s is the partition %s's own: it stays, and is not in the definition", sqlgen.QuoteIdent(c.Name), name)
		}
	}
	for _, e := range b.c.extras[p.OID] {
		if e.Kind == "rule" {
			b.refuse("the partition %s has the rule %s: drop or disable it", name, sqlgen.QuoteIdent(e.Name))
		} else {
			b.note("the %s %s is the partition %s's own, and stays", strings.TrimSuffix(e.Kind, "s"), sqlgen.QuoteIdent(e.Name), name)
		}
	}
	defaults := map[string]string{}
	for _, c := range b.c.columns[b.rel.OID] {
		if c.Identity == "" {
			defaults[c.Name] = c.Expression
		}
	}
	for _, c := range b.c.columns[p.OID] {
		if want, ok := defaults[c.Name]; ok && c.Expression != want {
			b.note("the partition %s has another default of %s, which no row that comes through the table gets", name, sqlgen.QuoteIdent(c.Name))
		}
	}
}

// name gives each part its own name, and takes its exact one away where that is
// derived from it.
func (b *builder) name(p *sqlgen.Partitions) {
	shortest := func(parts []sqlgen.Part, base string) {
		for i := range parts {
			part := &parts[i]
			exact := part.Table
			part.Name = exact
			own, prefixed := strings.CutPrefix(exact, base+"_")
			for _, candidate := range candidates(part, own, prefixed) {
				if part.Name = candidate; derivedPartition(base, candidate) == exact {
					part.Table = ""
					break
				}
				part.Name = exact
			}
		}
	}
	shortest(p.Parts, b.rel.Name)
	for i := range p.Parts {
		if part := &p.Parts[i]; part.Partitions != nil {
			shortest(part.Partitions.Parts, b.rel.Name+"_"+part.Name)
		}
	}
}

// candidates are the names that a part may have, the best first: its one value,
// as in the short form, then what the partition's name says besides the table's.
func candidates(part *sqlgen.Part, own string, prefixed bool) []string {
	var out []string
	if len(part.Values) == 1 && !part.NullToo {
		out = append(out, part.Values[0])
	}
	if prefixed && own != "" {
		out = append(out, own)
	}
	return out
}

// derivedPartition returns what cs9gen calls a partition.
func derivedPartition(base, own string) string {
	t := sqlgen.Table{Name: base, Partitions: &sqlgen.Partitions{Column: "c", Values: []string{own}}}
	return sqlgen.NamesOf(&t).Partitions[0].Value
}

// compareParts puts the parts of one table in order of what they take, the
// default one last.
func compareParts(a, b sqlgen.Part) int {
	if a.Default != b.Default {
		if a.Default {
			return 1
		}
		return -1
	}
	return cmp.Or(
		slices.CompareFunc(a.Values, b.Values, compareValues),
		slices.CompareFunc(a.From, b.From, compareValues),
		cmp.Compare(a.Modulus, b.Modulus),
		cmp.Compare(a.Remainder, b.Remainder),
		cmp.Compare(a.Table, b.Table),
	)
}

// compareValues compares numbers as such, and all else as text: dates and times
// are written so that this is their order.
func compareValues(a, b string) int {
	edge := func(s string) int {
		return map[string]int{"MINVALUE": -1, "MAXVALUE": 1}[s]
	}
	if edge(a) != edge(b) {
		return cmp.Compare(edge(a), edge(b))
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if okX && okY && numberText.MatchString(a) && numberText.MatchString(b) {
		return x.Cmp(y)
	}
	return cmp.Compare(a, b)
}
