package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// splitsLike reports whether rows find their partition in the same way. Both are
// in the long form; nil splits nothing.
func (p *Partitions) splitsLike(other *Partitions) bool {
	if p == nil || other == nil {
		return p == other
	}
	return p.By == other.By && slices.Equal(p.Columns, other.Columns)
}

// partCalled returns the part of a name; nil when there is none.
func (p *Partitions) partCalled(name string) *Part {
	i := slices.IndexFunc(p.Parts, func(part Part) bool { return part.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Parts[i]
}

// withColumnRenamed returns the same by a column of another name.
func (p *Partitions) withColumnRenamed(r rename) *Partitions {
	if p == nil {
		return nil
	}
	out := *p
	if out.Column == r.from {
		out.Column = r.to
	}
	out.Columns, out.Parts = slices.Clone(p.Columns), slices.Clone(p.Parts)
	for i, column := range out.Columns {
		if column == r.from {
			out.Columns[i] = r.to
		}
	}
	for i := range out.Parts {
		out.Parts[i].Partitions = out.Parts[i].Partitions.withColumnRenamed(r)
	}
	return &out
}

// inOrderOf returns the same with the parts that others has too in its order.
func (p *Partitions) inOrderOf(others *Partitions) *Partitions {
	out, like := *p.Long(), others.Long()
	out.Parts = ordered(out.Parts, like.Parts, func(part Part) string { return part.Name })
	for i := range out.Parts {
		part := &out.Parts[i]
		if other := like.partCalled(part.Name); other != nil && other.Partitions != nil && part.Partitions != nil {
			part.Partitions = part.Partitions.inOrderOf(other.Partitions)
		}
	}
	return &out
}

// partsNamedAs returns the partitions of the table with the names that they are
// to have. A part is known by its name, else by what it takes: then it is called
// another way, and nothing is guessed.
func (t *Table) partsNamedAs(to *Table) *Partitions {
	return t.namedAs(t.Partitions, to.Partitions)
}

func (t *Table) namedAs(p, to *Partitions) *Partitions {
	if p == nil || to == nil || !p.Long().splitsLike(to.Long()) {
		return p
	}
	out, is := *p.Long(), to.Long()
	out.Parts = slices.Clone(out.Parts)
	for i := range out.Parts {
		part := &out.Parts[i]
		takes := t.takes(is, part)
		after := is.partCalled(part.Name)
		if after == nil {
			j := slices.IndexFunc(is.Parts, func(other Part) bool {
				return p.Long().partCalled(other.Name) == nil && t.takes(is, &other) == takes
			})
			if j < 0 {
				continue
			}
			after = &is.Parts[j]
		}
		part.Name, part.Table = after.Name, after.Table
		if t.takes(is, after) == takes { // in whatever spelling
			part.Values, part.From, part.To = after.Values, after.From, after.To
		}
		part.Partitions = t.namedAs(part.Partitions, after.Partitions)
	}
	return &out
}

// takes returns a text that is the same for parts that take the same rows.
func (t *Table) takes(p *Partitions, part *Part) string {
	texts := func(values []string, columns ...string) []string {
		out := slices.Clone(values)
		for i, value := range values {
			column := t.Column(columns[min(i, len(columns)-1)])
			if column == nil || value == minValue || value == maxValue {
				continue
			}
			if same, err := valueKindOf(column.SQLType()).canonical(value); err == nil {
				out[i] = "=" + same
			}
		}
		return out
	}
	var what []string
	switch {
	case part.Default:
		what = []string{"default"}
	case p.By == byHash:
		what = []string{fmt.Sprintf("%d of %d", part.Remainder, part.Modulus)}
	case p.By == byRange:
		what = slices.Concat(texts(part.From, p.Columns...), []string{"to"}, texts(part.To, p.Columns...))
	default:
		for _, value := range part.Values {
			what = append(what, texts([]string{value}, p.Columns...)...)
		}
		slices.Sort(what)
		what = append(what, fmt.Sprint(part.NullToo))
	}
	return strings.Join(what, "\x00")
}

// inFreeOrder returns renames in an order in which each name is free when it is
// given. Names that change places do so by way of another one.
func inFreeOrder(renames []rename) []rename {
	var out []rename
	pending := slices.Clone(renames)
	taken := func(name string) bool {
		return slices.ContainsFunc(pending, func(r rename) bool { return r.from == name })
	}
	for len(pending) > 0 {
		i := slices.IndexFunc(pending, func(r rename) bool { return !taken(r.to) })
		if i >= 0 {
			out = append(out, pending[i])
			pending = slices.Delete(pending, i, i+1)
			continue
		}
		aside := derive(pending[0].from, "_cs9_aside")
		out = append(out, rename{pending[0].from, aside})
		pending[0].from = aside
	}
	return out
}

// droppedPartitions returns the partitions that a change drops with their rows.
func droppedPartitions(mid, to *Table) []Destroyed {
	if mid.Partitions == nil || to.Partitions == nil {
		return nil
	}
	stays := map[string]bool{"": true}
	for _, p := range to.partitionTables() {
		stays[p.id] = true
	}
	var out []Destroyed
	for _, p := range mid.partitionTables() {
		above, _, inside := strings.Cut(p.id, "\x00")
		if stays[p.id] || inside && !stays[above] {
			continue
		}
		what := "the partition " + QuoteLiteral(p.part.Name)
		if slices.Equal(p.part.Values, []string{p.part.Name}) {
			what = "the partition of " + QuoteLiteral(p.part.Name)
		}
		out = append(out, Destroyed{Qualified(to.Schema, p.table), what + " is dropped with its rows"})
	}
	return out
}

// rebound is a partition that is to take other rows than before.
type rebound struct{ was, is object }

// rebinds returns the steps that give partitions other bounds: all are taken out,
// then all are put back, the default ones last. A step may fail, but loses no row.
func (d *diff) rebinds(is *Table) []step {
	var out []step
	for _, r := range d.rebound {
		out = append(out, step{sql: r.was.detach})
	}
	live := Qualified(is.Schema, is.Name)
	last := func(r rebound) int {
		if strings.HasSuffix(r.is.attach, "DEFAULT") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(d.rebound, func(a, b rebound) int { return last(a) - last(b) })
	for _, r := range d.rebound {
		hazards := []string{fmt.Sprintf("the partition %s of %s takes other rows than before: all its rows are read under ACCESS EXCLUSIVE, readers and writers wait. It fails where one does not belong there any more", QuoteIdent(r.is.name), live)}
		if r.is.beside != "" {
			hazards = append(hazards, readsDefault(is, r.is))
		}
		out = append(out, step{sql: r.is.attach, hazards: hazards})
	}
	return out
}

// besideDefault says what it costs to add a partition where rows that no other
// takes have one already.
func besideDefault(is *Table, o object, before []partitionTable) []string {
	if o.beside == "" || !slices.ContainsFunc(before, func(p partitionTable) bool { return p.table == o.beside }) {
		return nil
	}
	return []string{readsDefault(is, o)}
}

func readsDefault(is *Table, o object) string {
	return fmt.Sprintf("all rows of the default partition %s are read under ACCESS EXCLUSIVE, readers and writers wait. It fails where one belongs to %s: delete such rows before, and let a run write them again after",
		Qualified(is.Schema, o.beside), QuoteIdent(o.name))
}
