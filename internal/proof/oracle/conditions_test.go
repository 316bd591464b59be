package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// %[1]s is a column, %[2]s and %[3]s are values that it may have.
var (
	mostlyTrue = []string{
		"%[1]s IS NULL OR %[1]s = %[1]s", "%[1]s <> %[2]s", "%[1]s IS DISTINCT FROM %[2]s", "%[1]s IS NOT NULL OR true", "true", "%[1]s IN (%[2]s, %[3]s) OR true", "%[1]s >= %[3]s", "true",
	}
	conditions = []string{
		"%[1]s = %[2]s", "%[1]s = %[2]s", "%[1]s = %[2]s", "%[1]s IN (%[2]s, %[3]s)", "%[1]s IN (%[2]s, %[3]s)", "%[1]s IS NULL", "%[1]s IS NOT NULL", "%[1]s <> %[2]s", "%[1]s < %[2]s",
		"%[1]s BETWEEN %[2]s AND %[3]s", "NOT (%[1]s = %[2]s)", "%[1]s = %[2]s OR %[1]s = %[3]s", "%[1]s IS NOT DISTINCT FROM %[2]s", "(%[1]s = %[2]s) IS NOT TRUE",
		"coalesce(%[1]s = %[2]s, false)", "true",
	}
	ofTexts = []string{"%[1]s LIKE 'a%%'", "%[1]s = ANY (ARRAY[%[2]s, %[3]s])", "%[1]s || 'x' = 'ax'", "%[1]s ~ '^[ab]'", "lower(%[1]s) = 'a'"}
	ofAny   = []string{"%[1]s IS NULL", "%[1]s IS NOT NULL", "true"} // where there is no equality
)

// condition draws a boolean expression over a table's columns: one that is true for most rows, or any.
func (t *table) condition(d *drawer, mostly bool) string {
	list := conditions
	if mostly {
		list = mostlyTrue
	}
	c := pickOf(d, t.columns)
	switch {
	case !c.kind.key:
		list = ofAny
	case !mostly && d.chance(30) && slices.Contains([]string{"text", "varchar(3)", "text C", "domain over text", "citext"}, c.kind.name):
		list = ofTexts
	}
	value := func() string {
		for {
			if v := pickOf(d, c.kind.values); !strings.HasPrefix(v, "=") {
				return literal(v)
			}
		}
	}
	return fmt.Sprintf(strings.ReplaceAll(pickOf(d, list), "%[1]s", strings.ReplaceAll(c.quoted(), "%", "%%"))+"%[1]s", "", value(), value())
}
