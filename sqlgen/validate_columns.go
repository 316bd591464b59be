package sqlgen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxColumns is PostgreSQL's 1600 without the control columns.
const maxColumns = 1597

// systemColumns are columns that every table of PostgreSQL has.
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

func (c *checker) checkColumns() {
	columns := c.t.Columns
	if c.given("columns") && len(columns) == 0 && !c.bad("columns") {
		c.fail("columns", "there is no column: define at least one")
	}
	if len(columns) > maxColumns {
		c.fail("columns", "there are %d columns, at most %d are possible: split the table", len(columns), maxColumns)
	}
	first := map[string]int{}
	for i := range columns {
		part := fmt.Sprintf("columns[%d]", i)
		if c.t.src.bad[c.path(part)] {
			continue
		}
		if c.given(part+".name") && !c.bad(part+".name") && c.checkOwnName(part+".name", columns[i].Name) {
			if j, ok := first[columns[i].Name]; ok {
				c.fail(part+".name", "the column %q is defined twice, first on line %d: rename or remove one of the two",
					columns[i].Name, c.t.src.at(c.path(fmt.Sprintf("columns[%d]", j))).line)
			} else {
				first[columns[i].Name] = i
			}
		}
		c.checkColumn(part, &columns[i])
	}
}

// checkOwnName checks the name of a column, and reports whether it is good.
func (c *checker) checkOwnName(part, name string) bool {
	switch {
	case !c.checkOwn(part, name):
	case slices.Contains(systemColumns, name):
		c.fail(part, "the column name %q is a system column of PostgreSQL: rename it", name)
	default:
		return true
	}
	return false
}

// checkColumn checks everything of a column but its name, and makes identity
// columns NOT NULL.
func (c *checker) checkColumn(part string, column *Column) {
	name := column.Name
	column.Type = trimSQL(column.Type)
	if c.given(part+".type") && !c.bad(part+".type") {
		c.checkType(part+".type", column)
	}
	if c.given(part + ".default") {
		column.Default = trimSQL(column.Default)
		c.checkExpression(part+".default", fmt.Sprintf("the default of the column %q", name), column.Default, true)
	}
	if c.given(part + ".generated") {
		column.Generated = trimSQL(column.Generated)
		c.checkExpression(part+".generated", fmt.Sprintf("the generated expression of the column %q", name), column.Generated, false)
	}
	if c.given(part+".identity") && !c.bad(part+".identity") {
		c.checkIdentity(part, column)
	}
	if c.given(part + ".collation") {
		c.checkObjectName(part+".collation", column.Collation)
		if typeCollation.MatchString(column.Type) {
			c.fail(part+".collation", "the type of the column %q holds COLLATE too: remove one of the two", name)
		}
	}
	c.checkExact(part+".sequence", column.Sequence)
	if c.given(part+".sequence") && !c.given(part+".identity") {
		c.fail(part+".sequence", "the column %q is no identity column and has no sequence of its own: remove sequence, or add identity", name)
	}
	var ways []string
	for _, field := range []string{"default", "generated", "identity"} {
		if c.given(part + "." + field) {
			ways = append(ways, field)
		}
	}
	if len(ways) > 1 {
		c.fail(part+"."+ways[1], "the column %q has %s: a column can have one of them", name, strings.Join(ways, " and "))
	}
}

func (c *checker) checkIdentity(part string, column *Column) {
	if column.Identity != "always" && column.Identity != "by default" {
		c.fail(part+".identity", `%q is no kind of identity: write "always" or "by default"`, column.Identity)
		return
	}
	if kind := valueKindOf(column.SQLType()); kind != kindInteger && !c.bad(part+".type") && column.Type != "" {
		c.fail(part+".identity", "the column %q is of type %s: an identity column must be smallint, integer or bigint", column.Name, column.Type)
	}
	if c.given(part+".not_null") && !c.bad(part+".not_null") && !column.NotNull {
		c.fail(part+".not_null", "the identity column %q can never be NULL: remove not_null", column.Name)
	}
	column.NotNull = true
}

var (
	typeCollation  = regexp.MustCompile(`(?i)\bcollate\b`)
	serialType     = regexp.MustCompile(`(?i)^(pg_catalog\.)?(small|big)?serial[248]?$`)
	constraintWord = regexp.MustCompile(`(?i)^(not|null|default|primary|unique|check|references|generated|constraint)$`)
)

// checkType checks that a type can be pasted where a type belongs. Whether it
// exists is for the database to say.
func (c *checker) checkType(part string, column *Column) {
	if serialType.MatchString(column.Type) {
		size := "integer"
		switch lower := strings.ToLower(column.Type); {
		case strings.Contains(lower, "big"), strings.HasSuffix(lower, "8"):
			size = "bigint"
		case strings.Contains(lower, "small"), strings.HasSuffix(lower, "2"):
			size = "smallint"
		}
		c.fail(part, `%s is not a type of its own: write "type: %s" and "identity: by default"`, column.Type, size)
		return
	}
	if column.Type == "" {
		c.fail(part, "the type of the column %q is empty: write one", column.Name)
		return
	}
	c.checkExpression(part, fmt.Sprintf("the type of the column %q", column.Name), column.Type, true)
	if c.bad(part) {
		return
	}
	tokens, _ := lex(column.Type)
	for _, t := range tokens {
		if t.kind == tokenWord && constraintWord.MatchString(t.text) {
			c.fail(part, "the type of the column %q holds %s, which is no part of a type: use the fields not_null, default, generated, keys, unique or checks", column.Name, strings.ToUpper(t.text))
			return
		}
	}
}
