package sqlgen

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	pgquery "github.com/wasilibs/go-pgquery"
)

// parseMigration reads a migration as goose, PostgreSQL and PL/pgSQL do, and
// returns the statements of its Up: what goose runs as one statement is one
// statement, and so is what the routines put together with format().
func parseMigration(t *testing.T, text string) []*pg.Node {
	t.Helper()
	up, down := gooseStatements(t, text)
	var out []*pg.Node
	for i, statements := range [][]string{up, down} {
		if len(statements) == 0 {
			t.Fatalf("no statement in one half of\n%s", text)
		}
		for _, statement := range statements {
			node := parseOne(t, statement)
			if node.GetCreateFunctionStmt() != nil {
				parseRoutine(t, statement)
			}
			if i == 0 {
				out = append(out, node)
			}
		}
	}
	return out
}

// parseOne reads exactly one statement, of which PostgreSQL cuts no name.
func parseOne(t *testing.T, statement string) *pg.Node {
	t.Helper()
	if name := longName(statement); name != "" {
		t.Fatalf("%s would be cut in\n%s", name, statement)
	}
	tree, err := pgquery.Parse(statement)
	if err != nil {
		t.Fatalf("%v in\n%s", err, statement)
	}
	if len(tree.Stmts) != 1 {
		t.Fatalf("%d statements for one in\n%s", len(tree.Stmts), statement)
	}
	return tree.Stmts[0].Stmt
}

// longName returns a name in SQL that is too long, or "".
func longName(sql string) string {
	tokens, _ := lex(sql)
	for _, k := range tokens {
		name := k.text
		if k.kind == tokenQuoted {
			name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
		}
		if len(name) > maxIdentBytes && (k.kind == tokenQuoted || k.kind == tokenWord) {
			return name
		}
	}
	return ""
}

// parseRoutine reads the body of a routine, and the SQL that it executes.
func parseRoutine(t *testing.T, create string) {
	t.Helper()
	text, err := pgquery.ParsePlPgSqlToJSON(create)
	if err != nil {
		t.Fatalf("%v in\n%s", err, create)
	}
	var body any
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%v of\n%s", err, create)
	}
	executed := dynamicQueries(body)
	if want := strings.Count(create, "EXECUTE format("); len(executed) < want {
		t.Fatalf("%d of %d texts to execute found in\n%s", len(executed), want, create)
	}
	for _, query := range executed {
		call := parseOne(t, "SELECT "+query).GetSelectStmt().GetTargetList()[0].GetResTarget().GetVal().GetFuncCall()
		if len(call.GetArgs()) == 0 {
			t.Fatalf("not format() with its arguments: %s", query)
		}
		sql, err := formatted(call.Args[0].GetAConst().GetSval().GetSval(), len(call.Args)-1)
		if err != nil {
			t.Fatalf("%v in\n%s", err, query)
		}
		parseOne(t, sql)
	}
}

// dynamicQueries returns what the EXECUTE statements of a PL/pgSQL tree execute.
func dynamicQueries(node any) []string {
	var out []string
	switch node := node.(type) {
	case []any:
		for _, each := range node {
			out = append(out, dynamicQueries(each)...)
		}
	case map[string]any:
		for name, each := range node {
			if name == "PLpgSQL_stmt_dynexecute" {
				each := each.(map[string]any)["query"].(map[string]any)["PLpgSQL_expr"].(map[string]any)
				out = append(out, each["query"].(string))
			} else {
				out = append(out, dynamicQueries(each)...)
			}
		}
	}
	return out
}

var specifier = regexp.MustCompile(`(?s)%(?:([0-9])\$)?(.?)`)

// formatted is format() of PostgreSQL, with x for every argument.
func formatted(text string, arguments int) (string, error) {
	next := 0
	var err error
	out := specifier.ReplaceAllStringFunc(text, func(s string) string {
		match := specifier.FindStringSubmatch(s)
		if match[2] == "%" && match[1] == "" {
			return "%"
		}
		next++
		used := next
		if match[1] != "" {
			used = int(match[1][0] - '0')
		}
		switch {
		case used < 1 || used > arguments:
			err = fmt.Errorf("%q asks for argument %d of %d", s, used, arguments)
		case match[2] == "s" || match[2] == "I":
			return "x"
		case match[2] == "L":
			return "'x'"
		default:
			err = fmt.Errorf("format() does not know %q", s)
		}
		return ""
	})
	return out, err
}
