package sqlgen

import (
	"testing"

	pgquery "github.com/wasilibs/go-pgquery"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLex(t *testing.T) {
	texts := func(sql string) []string {
		tokens, err := lex(sql)
		require.NoError(t, err, sql)
		var found []string
		for _, token := range tokens {
			found = append(found, token.text)
		}
		return found
	}
	for sql, want := range map[string][]string{
		"":                                nil,
		"a >= 'b;'''":                     {"a", ">", "=", "'b;'''"},
		`E'a\'b' || e'\\'`:                {`E'a\'b'`, "|", "|", `e'\\'`},
		`'a\' || b`:                       {`'a\'`, "|", "|", "b"},
		"N'a' B'1' X'f' type'a'":          {"N'a'", "B'1'", "X'f'", "type", "'a'"},
		"U&'a' U&\"a\"\"b\"":              {"U", "&", "'a'", "U", "&", "\"a\"\"b\""},
		"'a'\n 'b' 'c'":                   {"'a'\n 'b'", "'c'"},
		"E'a'\n'b\\'' c":                  {"E'a'\n'b\\''", "c"},
		"E'a' -- b'\n\n  -- c\n'\\' d' e": {"E'a' -- b'\n\n  -- c\n'\\' d'", "e"},
		"'a' -- b\n + 'c'":                {"'a'", "-- b", "+", "'c'"},
		"'a' /* b\n */ 'c'":               {"'a'", "/* b\n */", "'c'"},
		"$$a'b$$ $x$ $$ ; $x$ a$b$c":      {"$$a'b$$", "$x$ $$ ; $x$", "a$b$c"},
		"$1 + $2":                         {"$", "1", "+", "$", "2"},
		"a --> 0\nb":                      {"a", "--> 0", "b"},
		"/* a /* b */ c */ d":             {"/* a /* b */ c */", "d"},
		"år":                              {"år"},
	} {
		require.Equal(t, want, texts(sql), sql)
	}
}

// What is let through stands alone: put in parentheses into a statement, it is
// one expression of PostgreSQL's parser or a syntax error, never something that
// changes what follows it.
func TestCheckedSQLStaysInside(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "1", "'", "''", "\"", "(", ")", "[", "]", "$$", "$x$", "--", "/*", "*/", "\\", "E'", "e", "U&'", ";", ",", " ", "\n", "+", "::", "é",
	})
	rapid.Check(t, func(t *rapid.T) {
		sql := ""
		for _, p := range rapid.SliceOfN(piece, 1, 12).Draw(t, "pieces") {
			sql += p
		}
		if len(checkSQL(sql, true)) > 0 {
			return
		}
		tree, err := pgquery.Parse("SELECT (" + sql + "), 'end'")
		if err != nil {
			return
		}
		targets := tree.Stmts[0].Stmt.GetSelectStmt().TargetList
		if len(tree.Stmts) != 1 || len(targets) != 2 || targets[1].GetResTarget().Val.GetAConst().GetSval().GetSval() != "end" {
			t.Fatalf("%q changes what follows it", sql)
		}
	})
}
