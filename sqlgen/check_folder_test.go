package sqlgen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// folderEdit is what somebody does to a folder of migrations or to the
// definitions, and all that must be said of it. DIR stands for the folder.
type folderEdit struct {
	name   string
	edit   func(t *testing.T, dir string)
	tables []string // the definitions after it; nil for those that were generated
	want   []string
	diff   string // a part of the first diff
	broken bool
}

var (
	folderTables = []string{named("a", column("n")), named("b"), `name: parts, columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}], keys: [id, r], partitions: {column: r, values: [x, y]}`}
	folderFiles  = []string{"00001_cs9_schema.sql", "00002_cs9_routines.sql", "00003_cs9_views.sql", "00004_anon_a.sql", "00005_anon_b.sql", "00006_anon_parts.sql", "cs9gen.lock"}
)

// editFile replaces a part of a file.
func editFile(name, old, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, name)
		before := read(t, path)
		require.Contains(t, before, old)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(before, old, text, 1)), 0o600))
	}
}

func removeFile(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { t.Helper(); require.NoError(t, os.Remove(filepath.Join(dir, name))) }
}

func renameFile(name, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		require.NoError(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, to)))
	}
}

func copyFile(name, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, to), []byte(read(t, filepath.Join(dir, name))), 0o600))
	}
}

var folderEdits = []folderEdit{
	{name: "nothing"},
	{name: "a migration of one's own", edit: func(t *testing.T, dir string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "00007_by_hand.sql"), []byte("-- +goose Up\nSELECT 1;\n"), 0o600))
	}},
	{name: "another order", tables: []string{folderTables[2], folderTables[1], folderTables[0]}},
	{name: "a column more", tables: []string{named("a", column("n"), column("m")), folderTables[1], folderTables[2]}, want: []string{
		"table anon.a: definition: expected a migration for what changed, found nothing",
		"DIR/00007_change_anon_a.sql: expected what cs9gen generate would write, found nothing",
	}, diff: "+  - name: \"m\"\n+    type: \"integer\"\n"},
	{name: "a table has another name", tables: []string{folderTables[0], named("c") + ", was: b", folderTables[2]}, want: []string{
		"table anon.c: definition: expected a migration for what changed, found nothing",
		"DIR/00007_change_anon_c.sql: expected what cs9gen generate would write, found nothing",
	}, diff: "-name: \"b\"\n+name: \"c\"\n"},
	{name: "a new table", tables: append([]string{named("c")}, folderTables...), want: []string{
		"table anon.c: definition: expected a migration that makes the table, found nothing",
		"DIR/00007_anon_c.sql: expected what cs9gen generate would write, found nothing",
	}},
	{name: "a table without its definition", tables: []string{folderTables[0], folderTables[2]}, want: []string{
		"table anon.b: definition: expected a migration that drops the table, which the definitions do not have, found nothing",
		"DIR/00007_drop_anon_b.sql: expected what cs9gen generate would write, found nothing",
	}},
	{name: "what no migration can do", tables: []string{folderTables[0], folderTables[1], `name: parts, columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}], keys: [id, r]`}, want: []string{
		"table anon.parts: expected a change that a migration can make, found table anon.parts: how it is partitioned changes, which no migration can do without copying its rows: define a table of another name, fill it by a run, and drop this one",
	}},
	{name: "a migration is edited", edit: editFile("00004_anon_a.sql", "n  integer", "n  bigint"), broken: true, want: []string{
		"DIR/00004_anon_a.sql: expected the file as it was generated, found one that was edited since",
	}},
	{name: "a file of the cs9 schema is edited", edit: editFile("00002_cs9_routines.sql", "SECURITY DEFINER", "SECURITY INVOKER"), broken: true, want: []string{
		"DIR/00002_cs9_routines.sql: expected the file as it was generated, found one that was edited since",
	}},
	{name: "two files are gone", edit: func(t *testing.T, dir string) {
		t.Helper()
		removeFile("00003_cs9_views.sql")(t, dir)
		removeFile("00005_anon_b.sql")(t, dir)
	}, broken: true, want: []string{
		"DIR/00003_cs9_views.sql: expected the file that cs9gen.lock names, found nothing",
		"DIR/00005_anon_b.sql: expected the file that cs9gen.lock names, found nothing",
	}},
	{name: "a number twice", edit: renameFile("00005_anon_b.sql", "00004_anon_b.sql"), broken: true, want: []string{
		"DIR/00004_anon_b.sql: expected a number of its own, found that of 00004_anon_a.sql",
	}},
	{name: "another number", edit: renameFile("00005_anon_b.sql", "00009_anon_b.sql"), want: []string{
		"DIR/cs9gen.lock: expected what cs9gen generate would write, found another text",
	}, diff: "+      \"00009_anon_b.sql\": "},
	{name: "a copy", edit: copyFile("00005_anon_b.sql", "00009_anon_b.sql"), want: []string{
		"DIR/00009_anon_b.sql: expected no generated file that cs9gen.lock does not know, found one that came from another branch, or was copied",
	}},
	{name: "a merge is not resolved", edit: editFile("cs9gen.lock", "version: 1\n", "<<<<<<< ours\nversion: 1\n=======\nversion: 1\n>>>>>>> theirs\n"), broken: true, want: []string{
		"DIR/cs9gen.lock: expected one side of each conflict, found a merge conflict that is not resolved, in line 6",
	}},
	{name: "a definition in the lock is edited", edit: editFile("cs9gen.lock", `name: "n"`, `name: "m"`), broken: true, want: []string{
		`DIR/cs9gen.lock: expected table anon.a as its last migration leaves it, found another definition: it was edited, or two branches changed it`,
	}},
	{name: "a digest in the lock is edited", edit: editFile("cs9gen.lock", `"00006_anon_parts.sql": "`, `"00006_anon_parts.sql": "0`), broken: true, want: []string{
		"DIR/00006_anon_parts.sql: expected the file as it was generated, found one that was edited since",
	}},
	{name: "a comment in the lock is edited", edit: editFile("cs9gen.lock", "Do not edit it; ", ""), want: []string{
		"DIR/cs9gen.lock: expected what cs9gen generate would write, found another text",
	}, diff: "+# files' SHA-256."},
	{name: "a lock of another version", edit: editFile("cs9gen.lock", "version: 1\n", "version: 2\n"), broken: true, want: []string{
		"DIR/cs9gen.lock: expected version 1, which this program reads, found version 2",
	}},
	{name: "a lock with an unknown field", edit: editFile("cs9gen.lock", "version: 1\n", "version: 1\nmore: 2\n"), broken: true, want: []string{
		`DIR/cs9gen.lock: expected a file as cs9gen generate writes it, found DIR/cs9gen.lock:7:1: more: unknown field "more": the fields here are version, cs9_schema, tables`,
	}},
	{name: "no lock", edit: removeFile("cs9gen.lock"), want: []string{
		"DIR/cs9gen.lock: expected what cs9gen generate would write, found nothing",
	}},
	{name: "no lock, and a file is edited", edit: func(t *testing.T, dir string) {
		t.Helper()
		removeFile("cs9gen.lock")(t, dir)
		editFile("00004_anon_a.sql", "n  integer", "n  bigint ")(t, dir)
	}, broken: true, want: []string{
		`DIR/00004_anon_a.sql: expected what the definitions give, found another text: line 13 is "    n  bigint ," and would become "    n  integer,"; restore the file, or remove it if it was never applied`,
	}},
	{name: "no folder", edit: func(t *testing.T, dir string) { t.Helper(); require.NoError(t, os.RemoveAll(dir)) }, want: []string{
		"table anon.a: definition: expected a migration that makes the table, found nothing",
		"table anon.b: definition: expected a migration that makes the table, found nothing",
		"table anon.parts: definition: expected a migration that makes the table, found nothing",
		"DIR/00001_cs9_schema.sql: expected what cs9gen generate would write, found nothing",
		"DIR/00002_cs9_routines.sql: expected what cs9gen generate would write, found nothing",
		"DIR/00003_cs9_views.sql: expected what cs9gen generate would write, found nothing",
		"DIR/00004_anon_a.sql: expected what cs9gen generate would write, found nothing",
		"DIR/00005_anon_b.sql: expected what cs9gen generate would write, found nothing",
		"DIR/00006_anon_parts.sql: expected what cs9gen generate would write, found nothing",
	}},
}

func TestEachEditOfAFolderIsSeen(t *testing.T) {
	original := filepath.Join(t.TempDir(), "migrations")
	generate(t, original, tables(t, folderTables...), sqlgen.ChangeOptions{})
	require.Len(t, folder(t, original), len(folderFiles))
	for _, name := range folderFiles {
		require.FileExists(t, filepath.Join(original, name))
	}
	for _, e := range folderEdits {
		t.Run(e.name, func(t *testing.T) {
			dir := copyFolder(t, original)
			if e.edit != nil {
				e.edit(t, dir)
			}
			defs := folderTables
			if e.tables != nil {
				defs = e.tables
			}
			before := folder(t, dir)
			got, err := sqlgen.CheckFolder(dir, tables(t, defs...))
			require.NoError(t, err)
			var lines []string
			for _, d := range got.Differences {
				lines = append(lines, strings.ReplaceAll(d.String(), dir, "DIR"))
			}
			require.Equal(t, e.want, lines)
			require.Equal(t, e.broken, got.Broken)
			if e.diff != "" {
				require.Contains(t, got.Differences[0].Diff, e.diff)
			}
			require.Equal(t, before, folder(t, dir), "nothing is written")
		})
	}
}
