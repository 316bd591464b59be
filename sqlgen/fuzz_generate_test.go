package sqlgen

import (
	"encoding/json"
	"errors"
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
  keys: [%s, %s], indexes: {%s: [%s], long: {columns: [{column: %s, collation: %s, order: desc}, {expression: n + 1}], include: [g], where: n > 0, name: %s}},
  unique: {%s: [%s, %s]}, checks: {%s: n > 0},
  foreign_keys: {%s: {columns: [%s], references: %s, to: [%s], on_delete: set null}},
  partitions: {column: %s, values: [%s, other]}, roles: {reader: %s, runner: %s}}]}`,
			js(schema), js(name), js(comment), js(key), js(comment), js(column), js(key), js(column), js(index), js(column),
			js(column), js(role), js(role),
			js(index), js(key), js(column), js(index), js(index), js(key), js(role), js(role), js(column), js(value), js(role), js(role))))
		if len(problems) > 0 || len(validateTogether(tables)) > 0 {
			return
		}
		file, err := generateTable(&tables[0])
		if err != nil {
			t.Fatal(err)
		}
		parseMigration(t, file.SQL)

		// The same names in other places: things are renamed, dropped and made.
		changed, problems := loadFile("fuzz.yaml", []byte(fmt.Sprintf(`{version: 1, tables: [{schema: %s, name: %s, was: %s, comment: %s,
  columns: [{name: %s, type: bigint, was: %s}, {name: %s, type: TEXT, was: %s, comment: %s}, {name: g, type: bigint}, {name: m, type: "numeric(12,2)", generated: g * 2}],
  keys: [%s, %s], indexes: {%s: {columns: [%s], was: long}}, unique: {%s: {columns: [%s, %s], deferrable: deferred}}, checks: {%s: m > 0},
  partitions: {by: list, columns: [%s], parts: [{name: other, values: [other, two]}, {name: %s, values: [%s]},
    {name: rest, default: true, partitions: {by: hash, columns: [%s], parts: [{name: h, modulus: 1, remainder: 0, table: %s}]}}]}, roles: {publisher: %s}}]}`,
			js(schema), js(index), js(name), js(value), js(index), js(key), js(column), js(role), js(comment), js(index), js(column), js(comment), js(column),
			js(index), js(index), js(column), js(index), js(column), js(comment), js(comment), js(index), js(role+"t"), js(role))))
		if len(problems) > 0 || len(validateTogether(changed)) > 0 {
			return
		}
		dir := t.TempDir()
		for i, tables := range [][]Table{tables, changed} {
			change, err := PlanChange(dir, &Definitions{tables}, ChangeOptions{AllowDestroy: []string{"all"}, ConcurrentIndexes: true})
			if errors.Is(err, ErrCannotChange) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if written, err := change.Write(); err != nil || len(written) == 0 {
				t.Fatalf("%v, %v", written, err)
			}
			for _, f := range change.Files[min(i*4, len(change.Files)):] {
				if !f.Exists && f.SQL != "" && !strings.Contains(f.Name, "_cs9_") {
					parseMigration(t, f.SQL)
				}
			}
			if again, err := PlanChange(dir, &Definitions{tables}, ChangeOptions{}); err != nil || again.LockChanges() {
				t.Fatalf("the lock is not read back as it was written: %v", err)
			}
		}
	})
}

// parseMigration reads a migration as goose and PostgreSQL do.
func parseMigration(t *testing.T, text string) {
	t.Helper()
	up, down, ok := strings.Cut(text, "\n-- +goose Down\n")
	if !ok || strings.Contains(down, "+goose Down\n") {
		t.Fatalf("not one Down in\n%s", text)
	}
	for _, sql := range []string{up, down} {
		if strings.Count(sql, "\n-- +goose StatementBegin\n") != strings.Count(sql, "\n-- +goose StatementEnd\n") {
			t.Fatalf("statements that do not end in\n%s", sql)
		}
		tree, err := pgquery.Parse(sql)
		if err != nil {
			t.Fatalf("%v in\n%s", err, sql)
		}
		if len(tree.Stmts) == 0 {
			t.Fatalf("no statement in\n%s", sql)
		}
		if _, err := pgquery.ParsePlPgSqlToJSON(sql); err != nil {
			t.Fatalf("%v in\n%s", err, sql)
		}
	}
}

// js writes text as JSON, which YAML reads.
func js(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}
