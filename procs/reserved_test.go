package procs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What introduces a name, or uses one, in a piece of SQL that is put together.
var (
	isStatement  = regexp.MustCompile(`\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|JOIN)\b`)
	givesName    = regexp.MustCompile(`\bAS +"?([A-Za-z_][A-Za-z0-9_]*)`)
	followsTable = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE|USING)(?: ONLY)? (?:~(?:\.~)?|\([^()]*\)) ([a-z_][a-z0-9_]*)`)
	makesTable   = regexp.MustCompile(`\bTEMP(?:ORARY)? TABLE (?:pg_temp\.)?([a-z0-9_]+)`)
	usesColumn   = regexp.MustCompile(`\b([A-Za-z_][A-Za-z0-9_]*)\.(?:~|\*|[a-z_])`)
	usesAnyName  = regexp.MustCompile(`\b([A-Za-z_][A-Za-z0-9_]*)\.~`)
	placeholder  = regexp.MustCompile(`%(?:[0-9]+\$)?[IsLvdq]|%(?:\[[0-9]+\])[svdq]`)

	action      = regexp.MustCompile(`\{\{.*?\}\}`)
	ofTag       = regexp.MustCompile(`\{\{\.Tag "([a-z_]+)"\}\}`)
	givenAlias  = regexp.MustCompile(`\.(?:Keys|Columns|Sets|FirstKey|SetList|ColumnListOf) "([^"]+)"`)
	matchesKeys = regexp.MustCompile(`cs9\.key_match\(.*`)
	word        = regexp.MustCompile(`'([a-z0-9_]+)'`)
)

// namesGiven returns the names in a piece of SQL that could be a user's too:
// those that do not begin with cs9_ and are not of a schema that no user has
// tables in.
func namesGiven(sql string) []string {
	sql = placeholder.ReplaceAllString(sql, "~")
	patterns := []*regexp.Regexp{makesTable, usesAnyName}
	if isStatement.MatchString(sql) {
		patterns = append(patterns, givesName, followsTable, usesColumn)
	}
	var names []string
	for _, pattern := range patterns {
		names = append(names, unreserved(pattern, sql)...)
	}
	return names
}

// keyWords follow a table, or AS, and are no names.
var keyWords = []string{"WHERE", "IDENTITY", "SELECT"}

func unreserved(pattern *regexp.Regexp, sql string) []string {
	var names []string
	for _, m := range pattern.FindAllStringSubmatch(sql, -1) {
		// excluded is the row that ON CONFLICT could not insert: no table is called so where the target has an alias
		ours := strings.HasPrefix(m[1], "cs9_") || slices.Contains([]string{"cs9", "pg_catalog", "pg_temp", "excluded"}, m[1])
		if !ours && !slices.Contains(keyWords, m[1]) {
			names = append(names, m[0])
		}
	}
	return names
}

// literals returns the texts of the literals of a routine's body.
func literals(body string) []string {
	quote := regexp.MustCompile(`'|\$[a-z_]+\$|--`)
	var out []string
	for {
		at := quote.FindStringIndex(body)
		if at == nil {
			return out
		}
		mark := body[at[0]:at[1]]
		if mark == "--" { // a comment
			_, body, _ = strings.Cut(body[at[1]:], "\n")
			continue
		}
		text, rest, _ := strings.Cut(body[at[1]:], mark)
		for mark == "'" && strings.HasPrefix(rest, "'") {
			var more string
			more, rest, _ = strings.Cut(rest[1:], mark)
			text += "'" + more
		}
		out, body = append(out, text), rest
	}
}

// A name that a user's column can have is that column: `SELECT c::text FROM … AS c`
// reads a column called c.
func TestSQLAroundUserNamesGivesReservedNamesOnly(t *testing.T) {
	var pieces int
	for _, b := range bodies(t) {
		_, body, found := strings.Cut(b.sql, "#variable_conflict error")
		if !found {
			continue
		}
		for _, call := range matchesKeys.FindAllString(body, -1) {
			require.Empty(t, slices.DeleteFunc(unreserved(word, call), func(s string) bool { return s == "'true'" }), "%s: %s", b.name, call)
		}
		require.Empty(t, unreserved(givenAlias, body), b.name)
		body = strings.ReplaceAll(ofTag.ReplaceAllString(body, "$$${1}$$"), "{{.InFormat}}", "%s")
		for _, text := range literals(action.ReplaceAllString(body, "")) {
			pieces++
			require.Empty(t, namesGiven(text), "%s: %s", b.name, text)
		}
	}
	require.Greater(t, pieces, 500)
}

func TestSQLThatIsGeneratedGivesReservedNamesOnly(t *testing.T) {
	var pieces int
	names, err := filepath.Glob("../sqlgen/*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		p, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(p, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			pieces++
			require.Empty(t, namesGiven(text), text)
			return true
		})
	}
	require.Greater(t, pieces, 500)
}

func TestNamesThatAUserCanHaveAreSeen(t *testing.T) {
	for _, sql := range []string{
		"SELECT c::text FROM %s AS c", "SELECT FROM %s c", "DELETE FROM ONLY %I.%I l WHERE true", "SELECT count(*) AS n FROM %s",
		"CREATE TEMP TABLE diff AS SELECT", "s.%I IS NOT NULL", "SELECT (s.*)::text FROM %s AS cs9_s", "SELECT cs9_a FROM (SELECT 1) x",
	} {
		require.NotEmpty(t, namesGiven(sql), sql)
	}
	require.Empty(t, namesGiven("SELECT cs9_l.a, cs9.table_label(1) FROM %I.%I AS cs9_l WHERE pg_catalog.now() > %L"))
	require.Equal(t, []string{"a'b", " SELECT ", "c"}, literals("x := 'a''b'; -- it's\n$y$ SELECT $y$ 'c'"))
}
