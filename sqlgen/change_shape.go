package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// joined returns the table without the partition that it has for the sake of
// the swap alone.
func (t *Table) joined() *Table {
	if !t.hasPart() {
		return t
	}
	plain := *t
	plain.Publish = "batched"
	return &plain
}

// reshapes reports whether the table must be a plain one for the change: it gets
// or loses its one partition, or something changes that PostgreSQL does not
// change in a partitioned table.
func (c tableChange) reshapes(mid *Table) bool {
	if mid.hasPart() != c.to.hasPart() {
		return true
	}
	if !mid.hasPart() {
		return false
	}
	key := mid.Column(mid.Keys[0])
	after := c.to.Column(key.Name)
	if c.to.Keys[0] != key.Name || after.collated() != key.collated() {
		return true
	}
	identity := func(t *Table, name string) string {
		if column := t.Column(name); column != nil {
			return column.Identity
		}
		return ""
	}
	for _, column := range slices.Concat(mid.Columns, c.to.Columns) {
		if identity(mid, column.Name) != identity(c.to, column.Name) {
			return true
		}
	}
	return false
}

// reshapeSteps returns what makes a partitioned table plain before the change,
// and what makes it partitioned after it.
func reshapeSteps(mid, to *Table) (join, split []step) {
	const hazard = "waits for all who use %s to finish, at most cs9.lock_timeout, and holds ACCESS EXCLUSIVE to the end of the migration; no row is copied"
	arguments := func(t *Table, more ...string) string {
		out := []string{QuoteLiteral(t.Schema), QuoteLiteral(t.Name)}
		for _, name := range more {
			out = append(out, QuoteLiteral(name))
		}
		return strings.Join(out, ", ")
	}
	if mid.hasPart() {
		r := newRenderer(mid)
		join = []step{{sql: fmt.Sprintf("SELECT cs9.join_partition(%s)", arguments(mid, r.names.Part)), hazards: []string{fmt.Sprintf(hazard, r.live())}}}
	}
	if to.hasPart() {
		r := newRenderer(to)
		split = append([]step{{sql: fmt.Sprintf("SELECT cs9.set_aside(%s)", arguments(to)), hazards: []string{fmt.Sprintf(hazard, r.live())}}}, plainSteps(r.liveTable()...)...)
		split = append(split, plainSteps(fmt.Sprintf("SELECT cs9.adopt_partition(%s)", arguments(to, r.names.Part)))...)
	}
	return join, split
}

// refusals returns what of a change no migration can do.
func (c tableChange) refusals() []string {
	live := Qualified(c.to.Schema, c.to.Name)
	if c.from.Adopt != c.to.Adopt {
		return []string{fmt.Sprintf("table %s: adopt says how the table came to be, and that cannot change any more: %s", live, map[bool]string{true: "put adopt: true back", false: "take adopt out"}[c.from.Adopt])}
	}
	was, is := c.renamed().Partitions, c.to.Partitions
	const instead = "define a table of another name, fill it by a run, and drop this one"
	switch {
	case was == nil && is == nil:
		return nil
	case was == nil, is == nil, !was.Long().splitsLike(is.Long()):
		return []string{fmt.Sprintf("table %s: how it is partitioned changes, which no migration can do without copying its rows: %s", live, instead)}
	}
	var out []string
	for _, part := range was.Long().Parts {
		after := is.Long().partCalled(part.Name)
		if after != nil && !part.Partitions.Long().splitsLike(after.Partitions.Long()) {
			out = append(out, fmt.Sprintf("table %s: how its part %q is split changes, which no migration can do without copying its rows: %s", live, part.Name, instead))
		}
	}
	for _, name := range c.to.partitionColumns() {
		if before, after := c.renamed().Column(name), c.to.Column(name); before != nil && before.Type != after.Type {
			out = append(out, fmt.Sprintf("table %s: the type of the column %q changes, by which it is partitioned: %s", live, name, instead))
		}
	}
	return out
}
