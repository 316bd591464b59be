package sqlgen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/sqlgen"
)

const application = "-- +goose Up\nSELECT 1;\n-- +goose Down\nSELECT 1;\n"

// TestEachMigrationHasANumberOfItsOwn however many files of the application are
// in the folder, and whatever their numbers are.
func TestEachMigrationHasANumberOfItsOwn(t *testing.T) {
	for name, numbers := range map[string][]int{
		"none": nil, "one": {1}, "two": {1, 2}, "three": {1, 2, 3}, "a gap": {2}, "gaps": {1, 3}, "many": {1, 2, 3, 4, 5}, "a date": {20260101120000},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			taken := map[string]bool{}
			for _, n := range numbers {
				file := fmt.Sprintf("%05d_app%d.sql", n, n)
				taken[fmt.Sprintf("%05d", n)] = true
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(application), 0o600))
			}
			defs := tables(t, named("a"), named("b"))
			change, err := sqlgen.PlanChange(dir, defs, sqlgen.ChangeOptions{})
			require.NoError(t, err)
			var names []string
			for _, f := range change.Files {
				number, base, _ := strings.Cut(f.Name, "_")
				require.False(t, taken[number], f.Name)
				taken[number] = true
				names = append(names, base)
			}
			require.Equal(t, []string{"cs9_schema.sql", "cs9_routines.sql", "cs9_views.sql", "anon_a.sql", "anon_b.sql"}, names)
			require.True(t, slices.IsSortedFunc(change.Files, func(a, b sqlgen.PlannedFile) int { return strings.Compare(a.Name, b.Name) }))
			_, err = change.Write()
			require.NoError(t, err)
			check, err := sqlgen.CheckFolder(dir, defs)
			require.NoError(t, err)
			require.Empty(t, check.Differences)
		})
	}
}

// TestAnOrderThatCannotBeAppliedIsRefused by generate and by check, where goose
// would find out in the database.
func TestAnOrderThatCannotBeAppliedIsRefused(t *testing.T) {
	parent := named("parent")
	child := "name: child, columns: [{name: id, type: INTEGER}, {name: parent, type: INTEGER}], keys: [id], foreign_keys: {up: {columns: [parent], references: parent}}"
	for name, move := range map[string]string{
		"the cs9 schema behind its routines": "cs9_schema", "the routines behind the tables": "cs9_routines", "a table behind one that references it": "anon_parent", "a table behind its change": "anon_moved",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, defs := range []*sqlgen.Definitions{tables(t, named("moved"), parent, child), tables(t, named("moved", column("more")), parent, child)} {
				change, err := sqlgen.PlanChange(dir, defs, sqlgen.ChangeOptions{})
				require.NoError(t, err)
				_, err = change.Write()
				require.NoError(t, err)
			}
			defs := tables(t, named("moved", column("more")), parent, child)
			check, err := sqlgen.CheckFolder(dir, defs)
			require.NoError(t, err)
			require.Empty(t, check.Differences)

			files, err := filepath.Glob(filepath.Join(dir, "?????_"+move+".sql"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			require.NoError(t, os.Rename(files[0], filepath.Join(dir, "00099_"+move+".sql")))
			require.ErrorIs(t, refused(t, dir, defs, sqlgen.ChangeOptions{}), sqlgen.ErrOrder)
			check, err = sqlgen.CheckFolder(dir, defs)
			require.NoError(t, err)
			require.True(t, check.Broken)
			require.Contains(t, check.Differences[0].Expected, "a number above that of 00099_"+move+".sql")
		})
	}
	t.Run("a table that needs none of those before it", func(t *testing.T) {
		dir := t.TempDir()
		defs := tables(t, parent, named("other"))
		change, err := sqlgen.PlanChange(dir, defs, sqlgen.ChangeOptions{})
		require.NoError(t, err)
		_, err = change.Write()
		require.NoError(t, err)
		require.NoError(t, os.Rename(filepath.Join(dir, "00004_anon_parent.sql"), filepath.Join(dir, "00099_anon_parent.sql")))
		change, err = sqlgen.PlanChange(dir, defs, sqlgen.ChangeOptions{})
		require.NoError(t, err)
		require.True(t, change.LockChanges())
	})
}
