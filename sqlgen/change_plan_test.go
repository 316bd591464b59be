package sqlgen_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/sqlgen"
)

var destroyAll = sqlgen.ChangeOptions{AllowDestroy: []string{"all"}}

// tables returns definitions: each argument is one table in YAML's flow style,
// without its braces and schema.
func tables(t *testing.T, each ...string) *sqlgen.Definitions {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	text := "version: 1\ntables:\n"
	for _, table := range each {
		text += "  - {schema: anon, " + table + "}\n"
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	defs, err := sqlgen.Load(path)
	require.NoError(t, err)
	return defs
}

// named is a table with a key and some columns more.
func named(name string, columns ...string) string {
	return fmt.Sprintf("name: %s, columns: [%s], keys: [id]", name, strings.Join(append([]string{"{name: id, type: INTEGER}"}, columns...), ", "))
}

func column(name string) string { return fmt.Sprintf("{name: %s, type: INTEGER}", name) }

// refused returns the error of a change, which must not have written anything.
func refused(t *testing.T, dir string, defs *sqlgen.Definitions, options sqlgen.ChangeOptions) error {
	t.Helper()
	before := folder(t, dir)
	change, err := sqlgen.PlanChange(dir, defs, options)
	require.Error(t, err)
	require.Nil(t, change)
	require.Equal(t, before, folder(t, dir))
	return err
}

// folder returns the files of a folder.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		out[e.Name()] = read(t, filepath.Join(dir, e.Name()))
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func copyFolder(t *testing.T, dir string) string {
	t.Helper()
	other := filepath.Join(t.TempDir(), "migrations")
	require.NoError(t, os.CopyFS(other, os.DirFS(dir)))
	return other
}

func TestDestroyingNeedsLeaveForEachThing(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, tables(t,
		`name: a, columns: [{name: id, type: bigint}, {name: gone, type: TEXT}, {name: short, type: TEXT}, {name: plain, type: INTEGER}, {name: made, type: INTEGER, generated: id * 2}, {name: wide, type: varchar(5)}], keys: [id]`,
		`name: parts, columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}], keys: [id, r], partitions: {column: r, values: [x, "y z"]}`,
		named("dropped")), sqlgen.ChangeOptions{})
	after := tables(t,
		`name: a, columns: [{name: id, type: INTEGER}, {name: short, type: varchar(5)}, {name: plain, type: INTEGER, generated: id * 2}, {name: made, type: INTEGER, generated: id * 3}, {name: wide, type: TEXT}], keys: [id]`,
		`name: parts, columns: [{name: id, type: INTEGER}, {name: r, type: TEXT}], keys: [id, r], partitions: {column: r, values: [x]}`)
	var destroys *sqlgen.DestroyError
	require.ErrorAs(t, refused(t, dir, after, sqlgen.ChangeOptions{}), &destroys)
	var names []string
	for _, d := range destroys.List {
		names = append(names, d.Name)
	}
	require.Equal(t, []string{"anon.a.id", "anon.a.gone", "anon.a.short", "anon.a.plain", `anon."parts_y z"`, "anon.dropped"}, names)
	for i, name := range names {
		require.ErrorAs(t, refused(t, dir, after, sqlgen.ChangeOptions{AllowDestroy: append(names[:i:i], names[i+1:]...)}), &destroys)
		require.Len(t, destroys.List, 1)
		require.Equal(t, name, destroys.List[0].Name)
	}
	change, err := sqlgen.PlanChange(dir, after, sqlgen.ChangeOptions{AllowDestroy: names})
	require.NoError(t, err)
	require.Len(t, change.Destroys, len(names))
}

func TestWhatNoMigrationCanDoIsRefused(t *testing.T) {
	const columns = `columns: [{name: id, type: %s}, {name: r, type: TEXT}], keys: [id, r]`
	plain := "name: a, " + fmt.Sprintf(columns, "INTEGER")
	byR, byID := plain+", partitions: {column: r, values: [x]}", plain+`, partitions: {column: id, values: ["1"]}`
	for name, change := range map[string][2]string{
		"split":            {plain, byR},
		"joined":           {byR, plain},
		"swapped, split":   {plain + ", publish: swap", byR + ", publish: swap"},
		"another column":   {byR, byID},
		"type of a column": {byID, "name: a, " + fmt.Sprintf(columns, "bigint") + `, partitions: {column: id, values: ["1"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			generate(t, dir, tables(t, change[0]), sqlgen.ChangeOptions{})
			require.ErrorIs(t, refused(t, dir, tables(t, change[1]), destroyAll), sqlgen.ErrCannotChange)
		})
	}
}

func TestAMigrationIsNumberedAboveAllOthers(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, tables(t, named("a")), sqlgen.ChangeOptions{})
	for _, name := range []string{"00042_by_hand.go", "00050_of_another_branch.sql", "notes.md", "00060_no_migration.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("-- +goose Up\n"), 0o600))
	}
	other := copyFolder(t, dir)
	before := folder(t, dir)
	after := tables(t, named("b"), named("a", column("n")))
	require.Equal(t, []string{"00051_change_anon_a.sql", "00052_anon_b.sql"}, generate(t, dir, after, sqlgen.ChangeOptions{}))
	require.Equal(t, []string{"00051_change_anon_a.sql", "00052_anon_b.sql"}, generate(t, other, after, sqlgen.ChangeOptions{}))
	require.Equal(t, folder(t, dir), folder(t, other), "the same input gives the same bytes")
	for name, text := range before {
		if name != sqlgen.LockName {
			require.Equal(t, text, folder(t, dir)[name], name)
		}
	}

	require.NoError(t, os.WriteFile(filepath.Join(dir, "00051_of_another_branch.sql"), []byte("-- +goose Up\n"), 0o600))
	err := refused(t, dir, after, sqlgen.ChangeOptions{})
	require.ErrorIs(t, err, sqlgen.ErrSameNumber)
	require.ErrorContains(t, err, "00051_change_anon_a.sql and 00051_of_another_branch.sql")

	// the one of ours is renamed, as the message says, and found again
	require.NoError(t, os.Rename(filepath.Join(dir, "00051_change_anon_a.sql"), filepath.Join(dir, "00070_change_anon_a.sql")))
	require.Empty(t, generate(t, dir, after, sqlgen.ChangeOptions{}))
	require.Contains(t, read(t, filepath.Join(dir, sqlgen.LockName)), `"00070_change_anon_a.sql": `)
	require.NotContains(t, read(t, filepath.Join(dir, sqlgen.LockName)), `"00051_change_anon_a.sql": `)
}

func TestACallThatWasCutShortIsNotDoneTwice(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, tables(t, named("a")), sqlgen.ChangeOptions{})
	old := read(t, filepath.Join(dir, sqlgen.LockName))
	after := tables(t, named("a", column("n")), named("b"))
	generate(t, dir, after, sqlgen.ChangeOptions{})
	done := folder(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, sqlgen.LockName), []byte(old), 0o600))
	require.Empty(t, generate(t, dir, after, sqlgen.ChangeOptions{}))
	require.Equal(t, done, folder(t, dir))
}

func TestAFolderWithoutALockIsTakenOverAsItIs(t *testing.T) {
	dir := t.TempDir()
	first := tables(t, named("a"), named("b"))
	files, err := sqlgen.Generate(first)
	require.NoError(t, err)
	write(t, dir, files)
	require.ErrorIs(t, refused(t, dir, tables(t, named("a", column("n")), named("b")), destroyAll), sqlgen.ErrFileDiffers)
	require.ErrorIs(t, refused(t, dir, tables(t, named("a")), destroyAll), sqlgen.ErrLock)
	before := folder(t, dir)
	require.Equal(t, []string{"00006_anon_c.sql"}, generate(t, dir, tables(t, named("a"), named("b"), named("c")), sqlgen.ChangeOptions{}))
	for name, text := range before {
		require.Equal(t, text, folder(t, dir)[name])
	}
	require.Equal(t, []string{"00007_change_anon_a.sql"}, generate(t, dir, tables(t, named("a", column("n")), named("b"), named("c")), sqlgen.ChangeOptions{}))
}

// branches generates three states of definitions: what two branches have in
// common, and each of them.
func branches(t *testing.T, base, one, two *sqlgen.Definitions) (dirs [3]string) {
	t.Helper()
	dirs[0] = t.TempDir()
	generate(t, dirs[0], base, sqlgen.ChangeOptions{})
	for i, defs := range []*sqlgen.Definitions{one, two} {
		dirs[i+1] = copyFolder(t, dirs[0])
		require.NotEmpty(t, generate(t, dirs[i+1], defs, destroyAll))
	}
	return dirs
}

// mergeLocks merges the lock files as git does, and reports whether there was no
// conflict.
func mergeLocks(t *testing.T, dirs [3]string) (string, bool) {
	t.Helper()
	lock := func(i int) string { return filepath.Join(dirs[i], sqlgen.LockName) }
	out, err := exec.CommandContext(t.Context(), "git", "merge-file", "-p", lock(1), lock(0), lock(2)).Output()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return string(out), err == nil
}

func TestTheLocksOfBranchesThatChangeDifferentTablesMerge(t *testing.T) {
	base := tables(t, named("a"), named("b"), named("c"), named("e"))
	one := tables(t, named("a", column("n"))+", publish: atomic", named("b"), named("c"), named("d"), named("e"))
	two := tables(t, named("a"), named("b", column("n"))+", indexes: {by_n: [n]}", named("c"))
	dirs := branches(t, base, one, two)
	text, ok := mergeLocks(t, dirs)
	require.True(t, ok, text)

	merged := copyFolder(t, dirs[1])
	for _, name := range []string{"00008_change_anon_b_and_1_more.sql"} {
		require.NoError(t, os.WriteFile(filepath.Join(merged, name), []byte(read(t, filepath.Join(dirs[2], name))), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(merged, sqlgen.LockName), []byte(text), 0o600))
	both := tables(t, named("a", column("n"))+", publish: atomic", named("b", column("n"))+", indexes: {by_n: [n]}", named("c"), named("d"))
	require.ErrorIs(t, refused(t, merged, both, sqlgen.ChangeOptions{}), sqlgen.ErrSameNumber)
	require.NoError(t, os.Rename(filepath.Join(merged, "00008_change_anon_b_and_1_more.sql"), filepath.Join(merged, "00010_change_anon_b_and_1_more.sql")))
	require.Empty(t, generate(t, merged, both, sqlgen.ChangeOptions{}), "both changes are there")
	require.Equal(t, []string{"00011_change_anon_c.sql"},
		generate(t, merged, tables(t, named("a", column("n"))+", publish: atomic", named("b", column("n"))+", indexes: {by_n: [n]}", named("c", column("n")), named("d")), sqlgen.ChangeOptions{}))
}

// Two branches that change one table must not both be taken: the second file
// was made without the first.
func TestALockOfTwoChangesOfOneTableIsRefused(t *testing.T) {
	base := tables(t, named("a", column("one"), column("two"), column("three"), column("four")))
	one := tables(t, named("a", "{name: one, type: INTEGER, comment: first}", column("two"), column("three"), column("four")))
	two := tables(t, named("a", column("one"), column("two"), column("three"), "{name: four, type: INTEGER, comment: fourth}"))
	dirs := branches(t, base, one, two)
	text, ok := mergeLocks(t, dirs)
	require.False(t, ok)
	require.NoError(t, os.WriteFile(filepath.Join(dirs[1], sqlgen.LockName), []byte(text), 0o600))
	both := tables(t, named("a", "{name: one, type: INTEGER, comment: first}", column("two"), column("three"), "{name: four, type: INTEGER, comment: fourth}"))
	require.ErrorContains(t, refused(t, dirs[1], both, sqlgen.ChangeOptions{}), "a merge conflict is not resolved")

	// both sides of the conflict kept, each field once: there can be one hash
	resolved, seen := "", map[string]bool{}
	for line := range strings.Lines(text) {
		field, _, _ := strings.Cut(line, ": ")
		again := seen[field] && strings.HasPrefix(line, "    ") && !strings.Contains(field, "type") && !strings.Contains(field, "not_null")
		if again || strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "=======") || strings.HasPrefix(line, ">>>>>>>") {
			continue
		}
		seen[field] = !strings.Contains(field, "name") && !strings.Contains(field, "comment")
		resolved += line
	}
	require.NoError(t, os.WriteFile(filepath.Join(dirs[1], sqlgen.LockName), []byte(resolved), 0o600))
	require.ErrorContains(t, refused(t, dirs[1], both, sqlgen.ChangeOptions{}), "two branches changed it", resolved)

	// as the lock's first lines say
	require.NoError(t, os.WriteFile(filepath.Join(dirs[1], sqlgen.LockName), []byte(read(t, filepath.Join(dirs[2], sqlgen.LockName))), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dirs[1], "00005_change_anon_a.sql"), []byte(read(t, filepath.Join(dirs[2], "00005_change_anon_a.sql"))), 0o600))
	require.Equal(t, []string{"00006_change_anon_a.sql"}, generate(t, dirs[1], both, sqlgen.ChangeOptions{}))
}

func TestALockThatDoesNotFitIsRefused(t *testing.T) {
	defs := tables(t, named("a", "{name: n, type: TEXT, comment: one}"))
	for name, c := range map[string]struct {
		edit func(lock string) string
		want string
	}{
		"a field is edited":  {func(s string) string { return strings.ReplaceAll(s, `comment: "one"`, `comment: "two"`) }, "was edited, or two branches changed it"},
		"an unknown field":   {func(s string) string { return s + "more: 1\n" }, `unknown field "more"`},
		"no YAML":            {func(s string) string { return s + "]" }, "this is not YAML"},
		"a newer format":     {func(s string) string { return strings.Replace(s, "\nversion: 1\n", "\nversion: 2\n", 1) }, "is of version 2"},
		"another cs9 schema": {func(s string) string { return strings.Replace(s, "\n  version: 1\n", "\n  version: 7\n", 1) }, "of the cs9 schema version 7"},
		"a file is missing": {func(s string) string {
			return strings.ReplaceAll(s, "00004_anon_a.sql\": \"", "00004_anon_a.sql\": \"0")
		}, "was edited since it was generated"},
		"another file": {func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "00004_anon_a.sql\": \"", "00004_anon_a.sql\": \"0"), "00004_anon_a", "00009_anon_a")
		}, "00009_anon_a.sql is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			generate(t, dir, defs, sqlgen.ChangeOptions{})
			lock := read(t, filepath.Join(dir, sqlgen.LockName))
			require.NotEqual(t, lock, c.edit(lock))
			require.NoError(t, os.WriteFile(filepath.Join(dir, sqlgen.LockName), []byte(c.edit(lock)), 0o600))
			require.ErrorContains(t, refused(t, dir, defs, destroyAll), c.want)
		})
	}
}

// The lock holds every definition of testdata so that it is read back the same.
func TestTheLockKeepsEveryDefinition(t *testing.T) {
	defs, err := sqlgen.Load(validDir)
	require.NoError(t, err)
	dir := t.TempDir()
	require.Len(t, generate(t, dir, defs, sqlgen.ChangeOptions{}), 3+len(defs.Tables))
	require.Empty(t, generate(t, dir, defs, sqlgen.ChangeOptions{}))
}

func TestAnotherSpellingIsNoChange(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, tables(t, `name: a, columns: [{name: id, type: INTEGER}, {name: n, type: "numeric(8,2)"}, {name: v, type: varchar(5)}], keys: [id], indexes: {x: [n], y: [v]}`), sqlgen.ChangeOptions{})
	require.Empty(t, generate(t, dir, tables(t, `name: a, columns: [{name: id, type: int4, not_null: true}, {name: v, type: character varying (5)}, {name: n, type: "DECIMAL(8, 2)"}], keys: [id], indexes: {y: [v], x: [n]}, publish: batched, was: b`), sqlgen.ChangeOptions{}))
}

// A name is never guessed: without was the old column would be lost, and with a
// was that names nothing too.
func TestRenamesAreDeclared(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, tables(t, named("a", column("x"))), sqlgen.ChangeOptions{})
	for _, columns := range []string{"{name: y, type: INTEGER}", "{name: y, type: INTEGER, was: X}"} {
		require.ErrorContains(t, refused(t, dir, tables(t, named("a", columns)), sqlgen.ChangeOptions{}), "anon.a.x")
	}
	require.ErrorContains(t, refused(t, dir, tables(t, named("b", column("x"))), sqlgen.ChangeOptions{}), "anon.a: the table is dropped")
	renamed := tables(t, named("b", "{name: y, type: INTEGER, was: x}")+", was: a")
	require.Equal(t, []string{"00005_change_anon_b.sql"}, generate(t, dir, renamed, sqlgen.ChangeOptions{}))
	require.Empty(t, generate(t, dir, renamed, sqlgen.ChangeOptions{}))
	sql := read(t, filepath.Join(dir, "00005_change_anon_b.sql"))
	require.Contains(t, sql, "ALTER TABLE anon.a RENAME TO b;")
	require.Contains(t, sql, "ALTER TABLE anon.b RENAME COLUMN x TO y;")
}
