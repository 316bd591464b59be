package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// TestAnyTextIsReadBackAsItWas writes definitions with texts of all kinds, which
// YAML could take for something else.
func TestAnyTextIsReadBackAsItWas(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9:#,'"\[\]{}&*!|>%@?\\=~ .-]{1,12}`),
		rapid.SampledFrom([]string{"true", "null", "Yes", "n", "0x1f", "1e3", "007", "-5", "12", ".inf", "~", "2024-01-01", "a: b", "a #b", "é", "日本", "💾", "- a", "a\nb", "\u2028x", "\u0085", "x\u007fy", "<<", "'", `"`, "a'b\"c", "? a", "trailing ", "E'\\\\'"}),
	)
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string) string { return text.Draw(r, label) }
		comment, value, literal := draw("comment"), draw("value"), draw("default")
		table := sqlgen.Table{
			Schema: "s", Name: "t", Comment: comment,
			Columns: []sqlgen.Column{
				{Name: "id", Type: "TEXT", NotNull: true, Comment: comment},
				{Name: "n", Type: "TEXT", Default: sqlgen.QuoteLiteral(literal)},
			},
			Keys:       []string{"id"},
			Checks:     sqlgen.Named[sqlgen.Check]{{Name: "k", Value: sqlgen.Check{Expression: "n <> " + sqlgen.QuoteLiteral(literal)}}},
			Partitions: &sqlgen.Partitions{Column: "id", Values: []string{value}},
		}
		got := loaded(t, inspect.WriteFile("Written by a test.", []sqlgen.Table{table}))
		require.Len(r, got, 1)
		require.Empty(r, cmp.Diff(table, got[0], cmpopts.IgnoreUnexported(sqlgen.Table{})))
	})
}
