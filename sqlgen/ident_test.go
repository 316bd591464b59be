package sqlgen

import (
	"strings"
	"testing"

	pgquery "github.com/wasilibs/go-pgquery"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQuoteIdent(t *testing.T) {
	for name, want := range map[string]string{
		"counts":     "counts",
		"_a1":        "_a1",
		"1a":         `"1a"`,
		"Counts":     `"Counts"`,
		"a b":        `"a b"`,
		"T.y Z":      `"T.y Z"`,
		"token-user": `"token-user"`,
		`a"b`:        `"a""b"`,
		"år":         `"år"`,
		"a$b":        `"a$b"`,
		"select":     `"select"`, // reserved
		"verbose":    `"verbose"`,
		"integer":    `"integer"`,
		"json_table": `"json_table"`, // of PostgreSQL 17
		"name":       "name",         // unreserved
		"week":       "week",
		"":           `""`,
	} {
		require.Equal(t, want, QuoteIdent(name))
	}
	require.Equal(t, `"S.x"."T.y Z"`, Qualified("S.x", "T.y Z"))
}

func TestQuoteLiteral(t *testing.T) {
	for text, want := range map[string]string{
		"":                "''",
		"north":           "'north'",
		"it's":            "'it''s'",
		"a;\n-- +goose":   `E'a;\n-- +goose'`,
		`C:\x`:            `E'C:\\x'`,
		"a\r\n'\t\\":      `E'a\r\n''\t\\'`,
		"$$ */ --> ${X}":  "'$$ */ --> ${X}'",
		"tab\tby itself":  "'tab\tby itself'",
		"line\u2028break": "'line\u2028break'",
	} {
		require.Equal(t, want, QuoteLiteral(text))
	}
}

// PostgreSQL's own parser reads back what was quoted, and nothing more.
func TestQuotedTextIsReadBack(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("aZ_0 .\"'\\\n\r\t;-+$/*%é😀")))
	rapid.Check(t, func(t *rapid.T) {
		value, name := text.Draw(t, "value"), cut("x"+text.Draw(t, "name"), maxIdentBytes)
		sql := "SELECT " + QuoteLiteral(value) + " AS " + QuoteIdent(name)
		if strings.ContainsAny(QuoteLiteral(value), "\n\r") {
			t.Fatalf("%s has a line break", sql)
		}
		tree, err := pgquery.Parse(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		target := tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget()
		if target.Name != name || target.Val.GetAConst().GetSval().GetSval() != value {
			t.Fatalf("%s was read as %q and %q", sql, target.Val.GetAConst().GetSval().GetSval(), target.Name)
		}
	})
}

// A word that needs no quotes is an identifier wherever one can be.
func TestEveryKeywordIsQuoted(t *testing.T) {
	for word := range keywords {
		require.Equal(t, `"`+word+`"`, QuoteIdent(word))
	}
	for _, sql := range []string{"CREATE TABLE %.% (% text)", "CREATE FUNCTION %() RETURNS int LANGUAGE sql AS ''", "SELECT % FROM %"} {
		for word := range keywords {
			_, err := pgquery.Parse(strings.ReplaceAll(sql, "%", QuoteIdent(word)))
			require.NoError(t, err, word)
		}
	}
}
