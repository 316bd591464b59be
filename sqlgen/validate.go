package sqlgen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// checker validates one table that was read from a file, and completes it.
type checker struct {
	t        *Table
	problems []Problem
}

// validateTable returns all the problems of t by itself. It also completes t:
// schema and name are filled, key and identity columns become NOT NULL.
func validateTable(t *Table) []Problem {
	c := &checker{t: t}
	c.checkName()
	c.checkColumns()
	c.checkKeys()
	c.checkExact("primary_key_name", t.PrimaryKeyName)
	c.checkIndexes()
	c.checkUnique()
	c.checkChecks()
	c.checkForeignKeys()
	c.checkPartitions()
	c.checkRoles()
	c.checkSearchPath()
	c.checkPublish()
	return c.problems
}

// path returns the path in the file of a part of the table.
func (c *checker) path(part string) string {
	if part == "" {
		return c.t.path
	}
	return c.t.path + "." + part
}

// given reports whether the file says anything about a part of the table.
func (c *checker) given(part string) bool { return c.t.src.given(c.path(part)) }

// bad reports whether a problem was already found in a part of the table.
func (c *checker) bad(part string) bool { return c.t.src.badUnder(c.path(part)) }

// fail reports a problem at the value of a part of the table.
func (c *checker) fail(part, format string, args ...any) {
	c.failAt(c.t.src.at(c.path(part)), part, format, args...)
}

// failName reports a problem at the name of a part of the table.
func (c *checker) failName(part, format string, args ...any) {
	c.failAt(c.t.src.keys[c.path(part)], part, format, args...)
}

func (c *checker) failAt(pos position, part, format string, args ...any) {
	path := c.path(part)
	c.t.src.bad[path] = true
	c.problems = append(c.problems, Problem{
		File: c.t.src.file, Line: pos.line, Column: pos.column, Path: path,
		Message: fmt.Sprintf(format, args...),
	})
}

// checkName checks how the table is named, and fills schema and name.
func (c *checker) checkName() {
	t := c.t
	given := func(parts []string) (yes, no []string) {
		for _, part := range parts {
			if c.given(part) {
				yes = append(yes, part)
			} else {
				no = append(no, part)
			}
		}
		return yes, no
	}
	threeGiven, threeMissing := given([]string{"access", "grouping", "variant"})
	twoGiven, twoMissing := given([]string{"schema", "name"})
	switch {
	case len(threeGiven) == 0 && len(twoGiven) == 0:
		c.fail("", "the table has no name: give access, grouping and variant, or schema and name")
		return
	case len(threeGiven) > 0 && len(twoGiven) > 0:
		c.fail("", "the table is named in two ways (%s): give access, grouping and variant, or schema and name, not both", strings.Join(slices.Concat(threeGiven, twoGiven), ", "))
		return
	case len(threeGiven) > 0 && len(threeMissing) > 0:
		c.fail("", "the table's name lacks %s: access, grouping and variant go together", strings.Join(threeMissing, " and "))
		return
	case len(twoGiven) > 0 && len(twoMissing) > 0:
		c.fail("", "the table's name lacks %s: schema and name go together", strings.Join(twoMissing, " and "))
		return
	}
	for _, part := range slices.Concat(threeGiven, twoGiven) {
		if c.bad(part) {
			return
		}
	}
	if len(twoGiven) > 0 {
		c.checkIdent("schema", t.Schema)
		c.checkOwn("name", t.Name)
		c.checkSchema("schema", t.Schema)
		return
	}
	t.Schema = t.Access
	t.Name = t.Access + "_" + t.Grouping + "_" + t.Variant
	c.checkOwn("access", t.Access)
	c.checkIdent("grouping", t.Grouping)
	c.checkIdent("variant", t.Variant)
	c.checkSchema("access", t.Schema)
	if len(t.Name) > maxIdentBytes && !c.bad("access") && !c.bad("grouping") && !c.bad("variant") {
		c.fail("", "the table's name %q is %d bytes long, PostgreSQL allows %d: shorten access, grouping or variant", t.Name, len(t.Name), maxIdentBytes)
	}
}

// checkSchema refuses the schemas that are not the user's to fill.
func (c *checker) checkSchema(part, schema string) {
	switch {
	case schema == "cs9" || schema == "cs9_staging":
		c.fail(part, "the schema %s is for the control tables of cs9gen: choose another one", schema)
	case strings.HasPrefix(schema, "pg_") || schema == "information_schema":
		c.fail(part, "the schema %s belongs to PostgreSQL: choose another one", schema)
	}
}

// checkIdent checks a name that becomes an identifier as it is, and reports
// whether it can.
func (c *checker) checkIdent(part, name string) bool {
	problem := identProblem(name)
	if problem == "" && len(name) > maxIdentBytes {
		problem = fmt.Sprintf("the name %q is %d bytes long, PostgreSQL allows %d: shorten it", name, len(name), maxIdentBytes)
	}
	if problem != "" {
		c.fail(part, "%s", problem)
	}
	return problem == ""
}

// reservedPrefix starts the names that are cs9gen's own: its control columns, its
// staged tables, and every alias and column that its SQL gives a name. No table, and
// nothing that belongs to one, can be mistaken for them.
const reservedPrefix = "cs9_"

// checkOwn checks the name of a table, or of what belongs to one, and reports
// whether it is good.
func (c *checker) checkOwn(part, name string) bool {
	if strings.HasPrefix(name, reservedPrefix) {
		c.fail(part, "the name %q begins with %s, as the names do that cs9gen gives in its own SQL: rename it", name, reservedPrefix)
		return false
	}
	return c.checkIdent(part, name)
}

// identProblem returns what is wrong with a name apart from its length.
func identProblem(name string) string {
	switch {
	case name == "":
		return "the name is empty: write one"
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Sprintf("the name %q holds a line break or another control character: remove it", name)
	case strings.Contains(name, "+goose"):
		return fmt.Sprintf("the name %q holds +goose, which goose reads as an annotation: rename it", name)
	}
	return ""
}

// maxIndexColumns is the number of columns that an index of PostgreSQL can have.
const maxIndexColumns = 32

// checkColumnList checks a list of column names: of the keys, an index or a
// unique constraint.
func (c *checker) checkColumnList(part string, names []string) {
	c.checkListSize(part, len(names))
	for i, name := range names {
		item := fmt.Sprintf("%s[%d]", part, i)
		if c.bad(item) {
			continue
		}
		if slices.Contains(names[:i], name) {
			c.fail(item, "the column %q is named twice: remove one of the two", name)
			continue
		}
		c.checkColumnName(item, name)
	}
}

func (c *checker) checkListSize(part string, columns int) {
	if columns == 0 && !c.bad(part) {
		c.fail(part, "there is no column: name at least one")
	}
	if columns > maxIndexColumns {
		c.fail(part, "there are %d columns, PostgreSQL allows %d in an index: drop some", columns, maxIndexColumns)
	}
}

// checkColumnName checks that name is a column of the table.
func (c *checker) checkColumnName(part, name string) {
	if c.t.Column(name) != nil || c.columnNamesBad() {
		return
	}
	names := make([]string, len(c.t.Columns))
	for i := range c.t.Columns {
		names[i] = c.t.Columns[i].Name
	}
	if near, ok := nearest(name, names); ok {
		c.fail(part, "%q is no column of the table: did you mean %q?", name, near)
		return
	}
	const shown = 8
	if len(names) > shown {
		names = append(names[:shown], "…")
	}
	c.fail(part, "%q is no column of the table: define it under columns, or name one of %s", name, strings.Join(names, ", "))
}

// columnNamesBad reports whether the names of all the columns are not known.
func (c *checker) columnNamesBad() bool {
	bad := len(c.t.Columns) == 0 || c.t.src.bad[c.path("columns")]
	for i := range c.t.Columns {
		column := fmt.Sprintf("columns[%d]", i)
		bad = bad || c.t.src.bad[c.path(column)] || c.bad(column+".name")
	}
	return bad
}

func (c *checker) checkKeys() {
	if !c.given("keys") || c.t.src.bad[c.path("keys")] {
		return
	}
	c.checkColumnList("keys", c.t.Keys)
	for i := range c.t.Columns {
		column := &c.t.Columns[i]
		if !slices.Contains(c.t.Keys, column.Name) {
			continue
		}
		notNull := fmt.Sprintf("columns[%d].not_null", i)
		if c.given(notNull) && !c.bad(notNull) && !column.NotNull {
			c.fail(notNull, "the key column %q cannot allow NULL, rows without a key could never be told apart: remove not_null, or take the column out of keys", column.Name)
		}
		column.NotNull = true
	}
}

// checkExpression checks SQL that is pasted into a statement; what names it in
// messages.
func (c *checker) checkExpression(part, what, sql string, single bool) {
	if c.bad(part) {
		return
	}
	for _, problem := range checkSQL(sql, single) {
		c.fail(part, "%s cannot be used: %s", what, problem)
	}
}

func (c *checker) checkPublish() {
	if !c.given("publish") || c.bad("publish") {
		return
	}
	switch c.t.Publish {
	case "batched", "atomic", "swap", "swap_or_atomic":
	default:
		c.fail("publish", "%q is no publish mode: use batched, atomic, swap or swap_or_atomic", c.t.Publish)
	}
}
