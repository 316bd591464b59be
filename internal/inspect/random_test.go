package inspect_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// TestRandomDefinitions generates, inspects and generates again: PostgreSQL says
// the same of both. CS9GEN_INSPECT_CHECKS says how many, 16 by default.
func TestRandomDefinitions(t *testing.T) {
	checks := 16
	if text := os.Getenv("CS9GEN_INSPECT_CHECKS"); text != "" {
		var err error
		checks, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	random := rapid.Custom(randomTable)
	for seed := range checks {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			table := random.Example(seed)
			written := inspect.WriteFile("Random.", []sqlgen.Table{table})
			loaded(t, written)
			url := pgtest.NewDatabase(t, saved(t, written))
			result := inspected(t, url, inspect.Options{Schema: table.Schema})
			require.Empty(t, result.LeftOut, "%s", written)
			got := loaded(t, result.File)
			require.Len(t, got, 1)
			require.Equal(t, table.Keys, got[0].Keys)
			require.Equal(t, table.Publish, got[0].Publish)
			require.ElementsMatch(t, exactNames(sqlgen.NamesOf(&table)), exactNames(sqlgen.NamesOf(&got[0])), "%s\n%s", written, result.File)
			again := pgtest.NewDatabase(t, saved(t, result.File))
			require.ElementsMatch(t, dump(t, pgtest.Connect(t, url), table.Schema), dump(t, pgtest.Connect(t, again), table.Schema), "%s\n%s", written, result.File)
		})
	}
}

var randomTypes = []struct {
	name, value, other string // other is above value
	collates           bool
}{
	{"INTEGER", "5", "9", false},
	{"bigint", "-3000000000", "17", false},
	{"TEXT", "a'b\\c", "d, e", true},
	{"varchar(20)", "NULL", "north", true},
	{"DATE", "2024-01-01", "2024-02-01", false},
	{"DATETIME", "2024-01-01 10:00:00Z", "2024-02-01 10:00:00.5Z", false},
	{"numeric(10,2)", "-1.50", "2.25", false},
	{"BOOLEAN", "false", "true", false},
	{"timestamp(3) without time zone", "2024-01-01 10:00:00", "2024-02-01 10:00:00", false},
	{"uuid", "01234567-89ab-cdef-0123-456789abcdef", "11234567-89ab-cdef-0123-456789abcdef", false},
}

// randomTable draws a table whose first column is a key, and one to be split by.
func randomTable(r *rapid.T) sqlgen.Table {
	name := rapid.SampledFrom([]string{"t", "Big Table", "order", "a_name_that_is_so_long_that_most_of_what_is_derived_from_it_is_cut"[:63]}).Draw(r, "name")
	t := sqlgen.Table{Schema: "s", Name: name, Comment: rapid.SampledFrom([]string{"", "It's: a \"table\"", "two\nlines"}).Draw(r, "comment")}
	some := func(label string) bool { return rapid.Bool().Draw(r, label) }
	count := rapid.IntRange(2, 6).Draw(r, "columns")
	var first int
	for i := range count {
		n := rapid.IntRange(0, len(randomTypes)-1).Draw(r, "type")
		if i == 0 {
			first = n
		}
		c := sqlgen.Column{Name: []string{"key", "C 1", "c2", "select", "é4", `c"5`}[i], Type: randomTypes[n].name, NotNull: some("not null")}
		if i > 0 && some("default") {
			c.Default = sqlgen.QuoteLiteral(randomTypes[n].value)
		}
		if randomTypes[n].collates && some("collation") {
			c.Collation = "C"
		}
		if i == 1 && c.Type == "bigint" {
			c.Default, c.Identity = "", "by default"
			if some("sequence") {
				c.Sequence = "a Sequence"
			}
		}
		t.Columns = append(t.Columns, c)
	}
	t.Keys = []string{"key"}
	if some("two keys") {
		t.Keys = append(t.Keys, t.Columns[1].Name)
	}
	if some("key name") {
		t.PrimaryKeyName = "The Key"
	}
	randomObjects(r, &t)
	t.Publish = rapid.SampledFrom([]string{"batched", "atomic", "swap", "swap_or_atomic"}).Draw(r, "publish")
	if some("partitions") {
		t.Partitions = randomPartitions(r, first)
		t.Unique = nil
		for i := range t.Indexes {
			t.Indexes[i].Value.Unique = false
		}
	}
	return t
}

// randomObjects draws indexes, unique constraints and checks.
func randomObjects(r *rapid.T, t *sqlgen.Table) {
	some := func(label string) bool { return rapid.Bool().Draw(r, label) }
	exact := func(name string) string {
		if some("exact name") {
			return "The " + name
		}
		return ""
	}
	last := t.Columns[len(t.Columns)-1]
	for i := range rapid.IntRange(0, 3).Draw(r, "indexes") {
		x := sqlgen.Index{
			Columns: []sqlgen.IndexColumn{{
				Column: last.Name,
				Order:  rapid.SampledFrom([]string{"", "desc"}).Draw(r, "order"),
				Nulls:  rapid.SampledFrom([]string{"", "first", "last"}).Draw(r, "nulls"),
			}},
			Name: exact(fmt.Sprintf("Index %d", i)),
		}
		if some("expression") {
			x.Columns = append(x.Columns, sqlgen.IndexColumn{Expression: fmt.Sprintf("(%s IS NULL)", sqlgen.QuoteIdent(last.Name))},
				sqlgen.IndexColumn{Expression: "lower('x'::text || 'y')", Collation: "C", Opclass: "text_pattern_ops"})
		}
		if some("where") {
			x.Where = sqlgen.QuoteIdent(last.Name) + " IS NOT NULL OR 1 = 2"
		}
		if some("include") {
			x.Include = []string{t.Columns[0].Name}
		}
		t.Indexes = append(t.Indexes, sqlgen.NamedItem[sqlgen.Index]{Name: fmt.Sprintf("by %d", i), Value: x})
	}
	if some("unique") {
		t.Unique = sqlgen.Named[sqlgen.Unique]{{Name: "u", Value: sqlgen.Unique{
			Columns: []string{last.Name, "key"}, Name: exact("Unique"), Deferrable: rapid.SampledFrom([]string{"", "deferred", "immediate"}).Draw(r, "deferrable"),
		}}}
		if last.Name == "key" {
			t.Unique[0].Value.Columns = []string{"key"}
		}
	}
	if some("check") {
		t.Checks = sqlgen.Named[sqlgen.Check]{{Name: "c", Value: sqlgen.Check{Expression: sqlgen.QuoteIdent(last.Name) + " IS NOT NULL OR (1 = 1 AND ';' <> '-- x')", Name: exact("Check")}}}
	}
}

// randomPartitions draws how a table is split by its first column, whose type is given.
func randomPartitions(r *rapid.T, n int) *sqlgen.Partitions {
	typ := randomTypes[n]
	hash := func(columns ...string) *sqlgen.Partitions {
		return &sqlgen.Partitions{By: "hash", Columns: columns, Parts: []sqlgen.Part{{Name: "h0", Modulus: 2}, {Name: "h1", Modulus: 2, Remainder: 1, Table: "The last half"}}}
	}
	switch rapid.IntRange(0, 3).Draw(r, "strategy") {
	case 0:
		return &sqlgen.Partitions{Column: "key", Values: []string{typ.value, typ.other}}
	case 1:
		return &sqlgen.Partitions{By: "list", Columns: []string{"key"}, Parts: []sqlgen.Part{
			{Name: "both", Values: []string{typ.value, typ.other}, NullToo: rapid.Bool().Draw(r, "null"), Partitions: hash("key")}, {Name: "rest", Default: true, Table: "All Others"},
		}}
	case 2:
		if typ.name == "BOOLEAN" {
			return hash("key")
		}
		return &sqlgen.Partitions{By: "range", Columns: []string{"key"}, Parts: []sqlgen.Part{
			{Name: "low", From: []string{"MINVALUE"}, To: []string{typ.value}}, {Name: "middle", From: []string{typ.value}, To: []string{typ.other}, Table: "The Middle"},
			{Name: "rest", Default: true},
		}}
	}
	return hash("key")
}
