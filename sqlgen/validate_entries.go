package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// checkEntry checks the name of an entry, and reports whether there is something
// in it to check.
func (c *checker) checkEntry(part, name string) bool {
	if problem := identProblem(name); problem != "" {
		c.failName(part, "%s", problem)
		return false
	}
	return !c.t.src.bad[c.path(part)]
}

// within returns the path of the field that may stand for a whole part.
func (c *checker) within(part, field string) string {
	if c.given(part + "." + field) {
		return part + "." + field
	}
	return part
}

// checkExact checks the name of what belongs to the table, if it is given.
func (c *checker) checkExact(part, name string) {
	if c.given(part) && !c.bad(part) {
		c.checkOwn(part, name)
	}
}

// checkObjectName checks a name, or schema.name, of something that is there.
func (c *checker) checkObjectName(part, name string) {
	if c.bad(part) {
		return
	}
	if _, _, err := splitName(name); err != nil {
		c.fail(part, "%v", err)
	}
}

// checkOneOf checks a field that has few values.
func (c *checker) checkOneOf(part, value string, values ...string) {
	if !c.given(part) || c.bad(part) || slices.Contains(values, value) {
		return
	}
	last := len(values) - 1
	c.fail(part, "%q is not known here: write %s or %s", value, strings.Join(values[:last], ", "), values[last])
}

func (c *checker) checkIndexes() {
	for i := range c.t.Indexes {
		x := &c.t.Indexes[i].Value
		part := joinPath("indexes", c.t.Indexes[i].Name)
		if !c.checkEntry(part, c.t.Indexes[i].Name) {
			continue
		}
		what := fmt.Sprintf("the index %q", c.t.Indexes[i].Name)
		c.checkIndexColumns(part, what, x)
		c.checkInclude(part, len(x.Columns), x.Include)
		if c.given(part + ".where") {
			x.Where = trimSQL(x.Where)
			c.checkExpression(part+".where", "the condition of "+what, x.Where, false)
		}
		if c.given(part+".method") && !c.bad(part+".method") {
			c.checkIdent(part+".method", x.Method)
		}
		c.checkExact(part+".name", x.Name)
		c.checkIndexKind(part, x)
	}
}

// checkIndexKind checks what goes together.
func (c *checker) checkIndexKind(part string, x *Index) {
	btree := x.Method == "" || x.Method == "btree"
	switch {
	case x.Unique && !btree:
		c.fail(part+".unique", "an index of the method %s cannot be unique: remove one of the two", x.Method)
	case x.NullsNotDistinct && !x.Unique:
		c.fail(part+".nulls_not_distinct", "the index is not unique, so that NULLs may be there more than once: remove nulls_not_distinct, or add unique: true")
	case x.Unique:
		c.checkAcross(part, x.plainColumns())
	}
	for i, column := range x.Columns {
		item := fmt.Sprintf("%s[%d]", c.within(part, "columns"), i)
		if !btree && (column.Order != "" || column.Nulls != "") && !c.bad(item) {
			c.fail(item, "an index of the method %s has no order: remove order and nulls", x.Method)
		}
	}
}

func (c *checker) checkIndexColumns(part, what string, x *Index) {
	list := c.within(part, "columns")
	c.checkListSize(list, len(x.Columns))
	for i := range x.Columns {
		column := &x.Columns[i]
		item := fmt.Sprintf("%s[%d]", list, i)
		if c.bad(item) {
			continue
		}
		column.Expression = trimSQL(column.Expression)
		switch expression := c.given(item + ".expression"); {
		case expression && c.given(item+".column"):
			c.fail(item, "there is a column and an expression: an index column is one of the two")
			continue
		case !expression && column.Column == "":
			c.fail(item, "there is neither a column nor an expression: give one")
			continue
		case slices.Contains(x.Columns[:i], *column) && expression:
			c.fail(item, "the expression is there twice: remove one of the two")
			continue
		case slices.Contains(x.Columns[:i], *column):
			c.fail(item, "the column %q is named twice: remove one of the two", column.Column)
			continue
		case expression:
			c.checkExpression(item+".expression", "an expression of "+what, column.Expression, false)
		default:
			c.checkColumnName(c.within(item, "column"), column.Column)
		}
		if c.given(item + ".collation") {
			c.checkObjectName(item+".collation", column.Collation)
		}
		if c.given(item + ".opclass") {
			c.checkObjectName(item+".opclass", column.Opclass)
		}
		c.checkOneOf(item+".order", column.Order, "asc", "desc")
		c.checkOneOf(item+".nulls", column.Nulls, "first", "last")
	}
}

// checkInclude checks the columns that an index holds besides those it indexes.
func (c *checker) checkInclude(part string, indexed int, include []string) {
	if !c.given(part + ".include") {
		return
	}
	c.checkColumnList(part+".include", include)
	if n := indexed + len(include); n > maxIndexColumns && len(include) <= maxIndexColumns && indexed <= maxIndexColumns {
		c.fail(part+".include", "there are %d columns with those that are indexed, PostgreSQL allows %d in an index: drop some", n, maxIndexColumns)
	}
}

func (c *checker) checkUnique() {
	for i := range c.t.Unique {
		u := &c.t.Unique[i].Value
		part := joinPath("unique", c.t.Unique[i].Name)
		if !c.checkEntry(part, c.t.Unique[i].Name) {
			continue
		}
		c.checkColumnList(c.within(part, "columns"), u.Columns)
		c.checkInclude(part, len(u.Columns), u.Include)
		c.checkOneOf(part+".deferrable", u.Deferrable, "deferred", "immediate")
		c.checkExact(part+".name", u.Name)
		c.checkAcross(part, u.Columns)
	}
}

// checkAcross refuses what is to be there once in the whole table, and of which
// PostgreSQL would see one partition only.
func (c *checker) checkAcross(part string, columns []string) {
	for _, column := range c.t.partitionColumns() {
		if c.t.Column(column) != nil && !slices.Contains(columns, column) && !c.bad(part) {
			c.fail(part, "the columns lack %q, by which the table is partitioned, and PostgreSQL cannot keep rows unique across partitions: add it, or drop the constraint", column)
		}
	}
}

func (c *checker) checkChecks() {
	for i := range c.t.Checks {
		check := &c.t.Checks[i].Value
		check.Expression = trimSQL(check.Expression)
		name := c.t.Checks[i].Name
		part := joinPath("checks", name)
		if problem := identProblem(name); problem != "" {
			c.failName(part, "%s", problem)
			continue
		}
		c.checkExpression(c.within(part, "expression"), fmt.Sprintf("the check %q", name), check.Expression, false)
		c.checkExact(part+".name", check.Name)
	}
}

func (c *checker) checkForeignKeys() {
	for i := range c.t.ForeignKeys {
		f := &c.t.ForeignKeys[i].Value
		part := joinPath("foreign_keys", c.t.ForeignKeys[i].Name)
		if !c.checkEntry(part, c.t.ForeignKeys[i].Name) {
			continue
		}
		if c.t.swaps() {
			c.fail(part, "a table that is published %s can have no foreign key: each new partition would have to be checked row by row while readers wait; publish it atomic or batched, or drop the foreign key", c.t.Publish)
		}
		if c.given(part + ".columns") {
			c.checkColumnList(part+".columns", f.Columns)
		}
		if c.given(part + ".references") {
			c.checkObjectName(part+".references", f.References)
		}
		if c.given(part + ".to") {
			c.checkReferenced(part, f)
		}
		actions := []string{"cascade", "set null", "set default", "restrict", "no action"}
		c.checkOneOf(part+".on_delete", f.OnDelete, actions...)
		c.checkOneOf(part+".on_update", f.OnUpdate, actions...)
		c.checkOneOf(part+".deferrable", f.Deferrable, "deferred", "immediate")
		c.checkOneOf(part+".match", f.Match, "full", "simple")
		c.checkExact(part+".name", f.Name)
	}
}

// checkReferenced checks the columns of the other table, as far as they are known
// without it.
func (c *checker) checkReferenced(part string, f *ForeignKey) {
	to := part + ".to"
	for i, name := range f.To {
		item := fmt.Sprintf("%s[%d]", to, i)
		switch {
		case c.bad(item) || !c.checkIdent(item, name):
		case slices.Contains(f.To[:i], name):
			c.fail(item, "the column %q is named twice: remove one of the two", name)
		}
	}
	if len(f.To) != len(f.Columns) && !c.bad(to) && !c.bad(part+".columns") {
		c.fail(to, "there are %d names in to and %d in columns: each column references one", len(f.To), len(f.Columns))
	}
}
