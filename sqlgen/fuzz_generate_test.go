package sqlgen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	pgquery "github.com/wasilibs/go-pgquery"
)

// FuzzGenerate gives a table any names, comments and values: what loads gives a
// migration that PostgreSQL's own parser reads, whose routines its PL/pgSQL
// parser reads, and that has no annotation of goose but the generator's.
func FuzzGenerate(f *testing.F) {
	f.Add("anon", "counts", "week", "region", "by_n", "a comment", "north", "reader")
	f.Add("S.x", "T.y Z", `a"b`, "select", "i %s", "it's; -- $$\n-- +goose Down", "100%", "r r")
	f.Add("$body$", "$delete_step$", "$insert$", "$upsert$", "$move_batch$", "*/ /* --> \\", "'; DROP TABLE x; --", "å💾")
	f.Add(strings.Repeat("s", 63), strings.Repeat("é", 31), strings.Repeat("c", 63), strings.Repeat("d", 62), "x", "\x00", "\t\r", "User")
	f.Fuzz(func(t *testing.T, schema, name, key, column, index, comment, value, role string) {
		tables, problems := loadFile("fuzz.yaml", []byte(fmt.Sprintf(`{version: 1, tables: [{schema: %s, name: %s, comment: %s,
  columns: [{name: %s, type: INTEGER, comment: %s}, {name: %s, type: TEXT, default: "'x'"}, {name: g, type: bigint, identity: always}, {name: n, type: "numeric(10,2)"}],
  keys: [%s, %s], indexes: {%s: [%s]}, unique: {%s: [%s, %s]}, checks: {%s: n > 0},
  partitions: {column: %s, values: [%s, other]}, roles: {reader: %s, runner: %s}}]}`,
			js(schema), js(name), js(comment), js(key), js(comment), js(column), js(key), js(column), js(index), js(column),
			js(index), js(key), js(column), js(index), js(column), js(value), js(role), js(role))))
		if len(problems) > 0 || len(validateTogether(tables)) > 0 {
			return
		}
		file, err := generateTable(&tables[0])
		if err != nil {
			t.Fatal(err)
		}
		up, down, ok := strings.Cut(file.SQL, "\n-- +goose Down\n")
		if !ok || strings.Contains(down, "+goose Down\n") {
			t.Fatalf("not one Down in\n%s", file.SQL)
		}
		if strings.Count(up, "\n-- +goose StatementBegin\n") != strings.Count(up, "\n-- +goose StatementEnd\n") {
			t.Fatalf("statements that do not end in\n%s", up)
		}
		for _, sql := range []string{up, down} {
			tree, err := pgquery.Parse(sql)
			if err != nil {
				t.Fatalf("%v in\n%s", err, sql)
			}
			if len(tree.Stmts) == 0 {
				t.Fatalf("no statement in\n%s", sql)
			}
		}
		if _, err := pgquery.ParsePlPgSqlToJSON(up); err != nil {
			t.Fatalf("%v in\n%s", err, up)
		}
	})
}

// js writes text as JSON, which YAML reads.
func js(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}
