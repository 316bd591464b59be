package sqlgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	pgquery "github.com/wasilibs/go-pgquery"
)

// seeds give a fuzz target its first inputs, of all lengths. Before that the
// parser is made ready: on a busy machine it takes longer than the ten seconds
// that a fuzzer gives one input.
func seeds(f *testing.F) {
	if _, err := pgquery.Parse("SELECT 1"); err != nil {
		f.Fatal(err)
	}
	for i := range 40 {
		bytes := make([]byte, 12*i)
		for j := range bytes {
			bytes[j] = byte(j*j*7 + j*i*13 + i*31)
		}
		f.Add(bytes, hostile[i], hostile[i+20])
	}
}

// FuzzGenerate makes a table of any shape, with any names and texts: what loads
// gives a migration of which each statement that goose runs is one that
// PostgreSQL's own parser reads, of which PL/pgSQL's reads the routines, and in
// which names and texts are what the definition says.
func FuzzGenerate(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, bytes []byte, one, two string) {
		tables, problems := loadTables([]Table{newChooser(bytes, one, two).table(nil)})
		if len(problems) > 0 {
			return
		}
		files, err := Generate(&Definitions{tables})
		if errors.Is(err, ErrCannotChange) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		statements := parseMigration(t, files[len(files)-1].SQL)
		if !tables[0].Adopt {
			checkCreated(t, &tables[0], statements)
		}
	})
}

// A name is never taken for the end of a routine, or of a text in one.
func TestNamesLikeTheTagsOfRoutines(t *testing.T) {
	for _, column := range []string{"{name: %s, type: TEXT}", "{name: %s, type: TEXT, generated: upper(n)}"} {
		for _, tag := range []string{"$diff$", "$gone$", "$move_batch$", "$apply_changes$"} {
			text := fmt.Sprintf("{version: 1, tables: [{schema: s, name: t, columns: [{name: n, type: TEXT}, %s], keys: [%s]}]}", fmt.Sprintf(column, tag), tag)
			tables, problems := loadFile("tags.yaml", []byte(text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			file, err := generateTable(&tables[0])
			if err != nil {
				t.Fatal(err)
			}
			parseMigration(t, file.SQL)
		}
	}
}

// A space that PostgreSQL reads as a letter is not cut off.
func TestSpacesThatAreLetters(t *testing.T) {
	tables, problems := loadFile("spaces.yaml", []byte(`{version: 1, tables: [{schema: s, name: t, columns: [{name: "\u2028", type: "x.\u00a0 "}], keys: ["\u2028"], checks: {c: "1 < \u2028\n"}}]}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := tables[0].Columns[0].Type + tables[0].Checks[0].Value.Expression; got != "x.\u00a01 < \u2028" {
		t.Fatalf("%q", got)
	}
	file, err := generateTable(&tables[0])
	if err != nil {
		t.Fatal(err)
	}
	parseMigration(t, file.SQL)
}

// checkCreated compares what statements make with the definition.
func checkCreated(t *testing.T, table *Table, statements []*pg.Node) {
	t.Helper()
	relations, comments := map[string][]string{}, map[string]string{}
	for _, s := range statements {
		switch {
		case s.GetCreateStmt() != nil:
			create := s.GetCreateStmt()
			relations[create.Relation.Relname] = columnsOf(create)
			if create.Relation.Schemaname != table.Schema {
				t.Fatalf("%q is in the schema %q, not %q", create.Relation.Relname, create.Relation.Schemaname, table.Schema)
			}
		case s.GetCommentStmt() != nil:
			var path []string
			for _, item := range s.GetCommentStmt().GetObject().GetList().GetItems() {
				path = append(path, item.GetString_().GetSval())
			}
			comments[strings.Join(path, "\x00")] = s.GetCommentStmt().Comment
		}
	}
	var columns []string
	path := table.Schema + "\x00" + table.Name
	for _, column := range table.Columns {
		columns = append(columns, column.Name)
		if got := comments[path+"\x00"+column.Name]; got != column.Comment {
			t.Fatalf("the comment of %q is %q, not %q", column.Name, got, column.Comment)
		}
	}
	if got := comments[path]; got != table.Comment {
		t.Fatalf("the comment is %q, not %q", got, table.Comment)
	}
	if got := relations[table.Name]; !slices.Equal(got, columns) {
		t.Fatalf("the columns of %q are %q, not %q", table.Name, got, columns)
	}
	for _, p := range table.partitionTables() {
		if _, ok := relations[p.table]; !ok {
			t.Fatalf("there is no partition %q among %q", p.table, relations)
		}
	}
	if got := relations[NamesOf(table).Staging]; len(got) != len(columns)+len(controlColumns) {
		t.Fatalf("the columns of the template are %q", got)
	}
}

func columnsOf(create *pg.CreateStmt) []string {
	var out []string
	for _, item := range create.TableElts {
		if column := item.GetColumnDef(); column != nil {
			out = append(out, column.Colname)
		}
	}
	return out
}
