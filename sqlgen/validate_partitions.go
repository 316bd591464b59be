package sqlgen

import (
	"slices"
	"strings"
)

// checkPartitions checks how the table is split, in both forms and on both levels.
func (c *checker) checkPartitions() {
	if c.t.Partitions != nil {
		c.checkPartitioning("partitions", c.t.Partitions, false)
	}
}

// checkPartitioning checks what stands at one place of the file; nested says that
// it splits a part.
func (c *checker) checkPartitioning(at string, p *Partitions, nested bool) {
	if c.t.src.bad[c.path(at)] {
		return
	}
	short, long := []string{"column", "values"}, []string{"by", "columns", "parts"}
	isGiven := func(field string) bool { return c.given(at + "." + field) }
	isShort, isLong := slices.ContainsFunc(short, isGiven), slices.ContainsFunc(long, isGiven)
	fields := short
	switch {
	case isShort && isLong:
		c.fail(at, "the partitions are given in two ways: give column and values, or by, columns and parts, not both")
		return
	case !isShort && !isLong:
		c.fail(at, "nothing says how the table is split: give column and values, or by, columns and parts")
		return
	case isLong:
		fields = long
	}
	for _, field := range fields {
		if !isGiven(field) {
			c.fail(at+"."+field, "the field %q is missing: add it", field)
		}
	}
	if isLong {
		c.checkParts(at, p, nested)
	} else {
		c.checkPartitionValues(at, p)
	}
}

// checkPartitionValues checks the short form.
func (c *checker) checkPartitionValues(at string, p *Partitions) {
	c.checkPartitionColumn(at+".column", p.Column)
	values := at + ".values"
	if !c.given(values) || c.t.src.bad[c.path(values)] {
		return
	}
	if len(p.Values) == 0 {
		c.fail(values, "there is no value: a table without a partition takes no row; name at least one")
	}
	first := map[string]string{}
	for i, value := range p.Values {
		c.checkListValue(indexed(values, i), p.Column, value, first)
	}
}

// kindOf returns how the values of a column are compared; as text when there is
// no such column.
func (c *checker) kindOf(name string) valueKind {
	if column := c.t.Column(name); column != nil {
		return valueKindOf(column.SQLType())
	}
	return kindText
}

// checkListValue checks one value of a LIST partition. First holds those before
// it, as the database compares them, and how they were written.
func (c *checker) checkListValue(part, column, value string, first map[string]string) {
	if c.bad(part) {
		return
	}
	same, err := c.kindOf(column).canonical(value)
	if err != nil {
		c.fail(part, "%q cannot be a value of the column %q: %v", value, column, err)
		return
	}
	if written, ok := first[same]; ok {
		c.fail(part, "%q is the same value as %q before it, and a value has one partition: remove one of the two", value, written)
		return
	}
	first[same] = value
}

func (c *checker) checkPartitionColumn(part, name string) {
	if !c.given(part) && !strings.HasSuffix(part, "]") || c.bad(part) {
		return
	}
	c.checkColumnName(part, name)
	column := c.t.Column(name)
	if column == nil {
		return
	}
	if column.Generated != "" {
		c.fail(part, "the column %q is generated, and PostgreSQL cannot partition by a generated column: choose another one", name)
		return
	}
	if c.given("keys") && !c.bad("keys") && !slices.Contains(c.t.Keys, name) {
		c.fail(part, "the column %q is not one of the keys: the primary key of a partitioned table must hold the partition column, because PostgreSQL keeps rows unique inside one partition only; add it to keys", name)
	}
}
