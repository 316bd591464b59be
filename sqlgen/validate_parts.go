package sqlgen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// boundFields are the fields that say what a part takes, by how the table is split.
var boundFields = map[string][]string{
	byList:  {"values", "null_too", "default"},
	byRange: {"from", "to", "default"},
	byHash:  {"modulus", "remainder"},
}

// checkParts checks the long form.
func (c *checker) checkParts(at string, p *Partitions, nested bool) {
	if !c.given(at+".by") || c.bad(at+".by") {
		return
	}
	if boundFields[p.By] == nil {
		c.fail(at+".by", "%q is no way to split a table: write list, range or hash", p.By)
		return
	}
	c.checkPartitionColumns(at+".columns", p)
	parts := at + ".parts"
	if !c.given(parts) || c.t.src.bad[c.path(parts)] {
		return
	}
	if len(p.Parts) == 0 {
		c.fail(parts, "there is no part: a table without a partition takes no row; name at least one")
	}
	for i := range p.Parts {
		if part := indexed(parts, i); !c.t.src.bad[c.path(part)] {
			c.checkPart(part, p, i, nested)
		}
	}
	if c.bad(parts) || c.bad(at+".columns") {
		return
	}
	switch p.By {
	case byList:
		c.checkLists(parts, p)
	case byRange:
		c.checkRanges(parts, p)
	case byHash:
		c.checkRemainders(parts, p)
	}
}

func (c *checker) checkPartitionColumns(at string, p *Partitions) {
	if !c.given(at) || c.t.src.bad[c.path(at)] {
		return
	}
	switch {
	case len(p.Columns) == 0:
		c.fail(at, "there is no column: name at least one")
	case len(p.Columns) > 1 && p.By == byList:
		c.fail(at, "there are %d columns, PostgreSQL splits by list with one: choose one, and split its parts by another", len(p.Columns))
	case len(p.Columns) > maxIndexColumns:
		c.fail(at, "there are %d columns, PostgreSQL allows %d: drop some", len(p.Columns), maxIndexColumns)
	}
	for i, name := range p.Columns {
		column := indexed(at, i)
		switch {
		case c.bad(column):
		case slices.Contains(p.Columns[:i], name):
			c.fail(column, "the column %q is named twice: remove one of the two", name)
		default:
			c.checkPartitionColumn(column, name)
		}
	}
}

// checkPart checks one part by itself, but for the order of its values.
func (c *checker) checkPart(at string, p *Partitions, i int, nested bool) {
	part := &p.Parts[i]
	if c.given(at+".name") && !c.bad(at+".name") {
		if problem := identProblem(part.Name); problem != "" {
			c.fail(at+".name", "%s", problem)
		} else if j := slices.IndexFunc(p.Parts[:i], func(other Part) bool { return other.Name == part.Name }); j >= 0 {
			c.fail(at+".name", "two parts are called %q: rename one of the two", part.Name)
		}
	}
	if c.given(at+".table") && !c.bad(at+".table") {
		c.checkOwn(at+".table", part.Table)
	}
	c.checkBoundFields(at, p, part)
	if part.Partitions == nil {
		return
	}
	if nested {
		c.fail(at+".partitions", "a part of a part cannot be split again: one level of it is all that there is")
		return
	}
	c.checkPartitioning(at+".partitions", part.Partitions, true)
}

// checkBoundFields checks that a part has the fields that say what it takes, and
// no others.
func (c *checker) checkBoundFields(at string, p *Partitions, part *Part) {
	fits := boundFields[p.By]
	for _, way := range []string{byList, byRange, byHash} {
		for _, field := range boundFields[way] {
			if c.given(at+"."+field) && !slices.Contains(fits, field) {
				c.fail(at+"."+field, "the field %q is not for partitions by %s: what such a part takes is said by %s", field, p.By, strings.Join(fits, ", "))
				return
			}
		}
	}
	var given []string
	for _, field := range fits {
		if c.bad(at + "." + field) {
			return
		}
		if field != "default" && c.given(at+"."+field) {
			given = append(given, field)
		}
	}
	switch {
	case part.Default && len(given) > 0:
		c.fail(at+".default", "a default part takes what no other does, so that it has no %s: remove one of the two", strings.Join(given, " and "))
	case part.Default:
	case p.By == byList && len(part.Values) == 0 && !part.NullToo:
		c.fail(at, "the part %q takes nothing: give it values, or default: true", part.Name)
	case p.By == byRange && len(given) < 2:
		c.fail(at, "the part %q lacks a bound: give it from and to, or default: true; MINVALUE and MAXVALUE stand for no bound", part.Name)
	case p.By == byHash && len(given) < 2:
		c.fail(at, "the part %q lacks a bound: give it modulus and remainder", part.Name)
	}
}

// oneDefault checks that there is one default part at most.
func (c *checker) oneDefault(parts string, p *Partitions) {
	first := ""
	for i := range p.Parts {
		switch part := &p.Parts[i]; {
		case !part.Default:
		case first == "":
			first = part.Name
		default:
			c.fail(indexed(parts, i), "%q and %q are both the default part: there can be one", first, part.Name)
		}
	}
}

func (c *checker) checkLists(parts string, p *Partitions) {
	c.oneDefault(parts, p)
	first, null := map[string]string{}, ""
	for i := range p.Parts {
		part := &p.Parts[i]
		for j, value := range part.Values {
			c.checkListValue(fmt.Sprintf("%s[%d].values[%d]", parts, i, j), p.Columns[0], value, first)
		}
		if part.NullToo && null != "" {
			c.fail(indexed(parts, i)+".null_too", "%q takes NULL already, and it has one partition: remove one of the two", null)
		} else if part.NullToo {
			null = part.Name
		}
	}
}

// checkRemainders checks that each row has one part, as far as a hash goes: each
// modulus divides the next larger one, no two parts share a remainder, and none
// is missing.
func (c *checker) checkRemainders(parts string, p *Partitions) {
	largest := 1
	for i := range p.Parts {
		part := &p.Parts[i]
		switch at := indexed(parts, i); {
		case part.Modulus < 1:
			c.fail(at+".modulus", "the modulus is %d: it must be at least 1", part.Modulus)
		case part.Remainder < 0 || part.Remainder >= part.Modulus:
			c.fail(at+".remainder", "the remainder %d cannot be: those of modulus %d are 0 to %d", part.Remainder, part.Modulus, part.Modulus-1)
		}
		largest = max(largest, part.Modulus)
	}
	if c.bad(parts) {
		return
	}
	covered := new(big.Rat)
	for i := range p.Parts {
		part := &p.Parts[i]
		for j := range p.Parts[:i] {
			other := &p.Parts[j]
			small, large := min(part.Modulus, other.Modulus), max(part.Modulus, other.Modulus)
			switch {
			case large%small != 0:
				c.fail(indexed(parts, i)+".modulus", "the modulus %d of %q and %d of %q do not divide each other, which PostgreSQL asks for: use multiples", part.Modulus, part.Name, other.Modulus, other.Name)
			case part.Remainder%small == other.Remainder%small:
				c.fail(indexed(parts, i), "%q and %q take the same rows: of modulus %d, those of remainder %d", other.Name, part.Name, small, part.Remainder%small)
			default:
				continue
			}
			return
		}
		covered.Add(covered, big.NewRat(1, int64(part.Modulus)))
	}
	if covered.Cmp(big.NewRat(1, 1)) == 0 {
		return
	}
	for missing := range largest {
		if !slices.ContainsFunc(p.Parts, func(part Part) bool { return missing%part.Modulus == part.Remainder }) {
			c.fail(parts, "no part takes the rows of remainder %d of modulus %d, which would be refused: add {modulus: %[2]d, remainder: %[1]d}", missing, largest)
			return
		}
	}
}
