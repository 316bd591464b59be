package sqlgen

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNamesOfShortTable(t *testing.T) {
	table := &Table{
		Schema: "anon", Name: "counts",
		Columns:     []Column{{Name: "id", Type: "bigint", Identity: "always"}, {Name: "n", Type: "integer"}},
		Indexes:     Named[Index]{{"by_n", Index{Columns: []IndexColumn{{Column: "n"}}}}},
		Unique:      Named[Unique]{{"n", Unique{Columns: []string{"n"}}}},
		Checks:      Named[Check]{{"positive", Check{Expression: "n > 0"}}},
		ForeignKeys: Named[ForeignKey]{{"n", ForeignKey{Columns: []string{"n"}, References: "other"}}},
		Partitions:  &Partitions{Column: "id", Values: []string{"9", "a b", ""}},
	}
	require.Equal(t, Names{
		Staging:       "counts_staging",
		Publish:       "counts_publish",
		DeleteStep:    "counts_delete_step",
		MoveBatch:     "counts_move_batch",
		ApplyChanges:  "counts_apply_changes",
		Part:          "counts_part",
		PrimaryKey:    "counts_pkey",
		RoutableCheck: "counts_routable_check",
		Guard:         "cs9_guard",
		Indexes:       Named[string]{{"by_n", "counts_by_n_idx"}},
		Unique:        Named[string]{{"n", "counts_n_key"}},
		Checks:        Named[string]{{"positive", "counts_positive_check"}},
		ForeignKeys:   Named[string]{{"n", "counts_n_fkey"}},
		Partitions:    Named[string]{{"9", "counts_9"}, {"a b", "counts_a b"}, {"", "counts_"}},
		Sequences:     Named[string]{{"id", "counts_id_seq"}},
	}, NamesOf(table))
}

// A name that the definition gives is taken as it is.
func TestExactNames(t *testing.T) {
	names := NamesOf(&Table{
		Schema: "anon", Name: "counts", PrimaryKeyName: "Key",
		Columns:     []Column{{Name: "id", Type: "bigint", Identity: "always", Sequence: "numbers"}},
		Indexes:     Named[Index]{{"a", Index{Name: "one"}}, {"b", Index{}}},
		Unique:      Named[Unique]{{"a", Unique{Name: "two"}}},
		Checks:      Named[Check]{{"a", Check{Name: "three"}}},
		ForeignKeys: Named[ForeignKey]{{"a", ForeignKey{Name: "four"}}},
	})
	require.Equal(t, "Key", names.PrimaryKey)
	require.Equal(t, Named[string]{{"a", "one"}, {"b", "counts_b_idx"}}, names.Indexes)
	require.Equal(t, Named[string]{{"a", "two"}}, names.Unique)
	require.Equal(t, Named[string]{{"a", "three"}}, names.Checks)
	require.Equal(t, Named[string]{{"a", "four"}}, names.ForeignKeys)
	require.Equal(t, Named[string]{{"id", "numbers"}}, names.Sequences)
}

// The names of a table whose own name leaves no room: they are pinned, because
// another release must find the objects that this one made.
func TestNamesOfLongTable(t *testing.T) {
	for _, c := range []struct{ name, table, staging, publish string }{
		{
			"55 bytes just fit", strings.Repeat("a", 55),
			strings.Repeat("a", 55) + "_staging", strings.Repeat("a", 55) + "_publish",
		},
		{
			"63 ASCII bytes", strings.Repeat("a", 63),
			strings.Repeat("a", 46) + "_6ff0d3cc_staging", strings.Repeat("a", 46) + "_3325a417_publish",
		},
		{
			"21 characters of three bytes", strings.Repeat("あ", 21),
			strings.Repeat("あ", 15) + "_3316a9b8_staging", strings.Repeat("あ", 15) + "_298e5c97_publish",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := NamesOf(&Table{Schema: "s", Name: c.table})
			require.Equal(t, c.staging, n.Staging)
			require.Equal(t, c.publish, n.Publish)
		})
	}
}

func TestNamesOfTablesWithACommonPrefix(t *testing.T) {
	seen := map[string]string{}
	for _, end := range []string{"", "a", "b", "aa", "ab", "ba", "aaa", "aab", "_st"} {
		table := &Table{Schema: "s", Name: strings.Repeat("p", 60) + end}
		for _, name := range relationNames(table) {
			require.Empty(t, seen[name], "%s of %s", name, table.Name)
			seen[name] = table.Name
		}
	}
}

// relationNames returns the names of t that must differ from one another, and
// the table's own.
func relationNames(t *Table) []string {
	n := NamesOf(t)
	names := []string{t.Name, n.Staging, n.Publish, n.DeleteStep, n.MoveBatch, n.ApplyChanges, n.Part, n.PrimaryKey, n.RoutableCheck}
	for _, named := range []Named[string]{n.Indexes, n.Unique, n.Checks, n.ForeignKeys, n.Partitions, n.Sequences} {
		for _, item := range named {
			names = append(names, item.Value)
		}
	}
	return names
}

// A derived name fits, is UTF-8, holds no line break and is never the name of
// the live table; the names of tables that agree in 50 bytes or more differ.
func TestDerivedNames(t *testing.T) {
	ident := func(label string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			prefix := rapid.SampledFrom([]string{"", strings.Repeat("p", 50), strings.Repeat("あ", 17), strings.Repeat("é", 30)}).Draw(t, "prefix")
			rest := rapid.StringOfN(rapid.RuneFrom([]rune("ab_.Z\"é あ😀")), 1, -1, 13).Draw(t, label)
			return cut(prefix+rest, maxIdentBytes)
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string]bool{}
		tables := rapid.SliceOfNDistinct(ident("table"), 1, 4, rapid.ID[string]).Draw(t, "tables")
		value := rapid.StringN(0, 80, -1).Draw(t, "value")
		for _, name := range tables {
			table := &Table{
				Schema: "s", Name: name,
				Columns:    []Column{{Name: "id", Identity: "always"}},
				Indexes:    Named[Index]{{ident("index").Draw(t, "index"), Index{}}},
				Partitions: &Partitions{Values: []string{value}},
			}
			for i, derived := range relationNames(table) {
				switch {
				case i > 0 && derived == name:
					t.Fatalf("%q is the name of the live table", derived)
				case len(derived) > maxIdentBytes:
					t.Fatalf("%q is %d bytes long", derived, len(derived))
				case !utf8.ValidString(derived):
					t.Fatalf("%q is not UTF-8", derived)
				case strings.ContainsAny(derived, "\x00\n\r"):
					t.Fatalf("%q breaks a line", derived)
				}
				// A name that was hashed belongs to one owner; one that was not is
				// reported by Load when it meets another.
				if len(name) > 50 && i > 0 && i < 7 && seen[derived] {
					t.Fatalf("%q has two owners", derived)
				}
				seen[derived] = true
			}
		}
	})
}
