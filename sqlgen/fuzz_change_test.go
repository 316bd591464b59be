package sqlgen

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzChange makes tables of any shape, changes them, and changes them again:
// what migrations can do, they do in statements that PostgreSQL reads, there and
// back; no file that is there is written anew; and then nothing is left to do.
func FuzzChange(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte, one, two string) {
		c := newChooser(data, one, two)
		tables := []Table{c.table(nil)}
		if c.oneIn(2) {
			tables = append(tables, c.table(&tables[0]))
		}
		dir := t.TempDir()
		for range 3 {
			loaded, problems := loadTables(tables)
			if len(problems) > 0 || !changeTo(t, dir, loaded, c.oneIn(2)) {
				return
			}
			tables = c.edited(loaded)
		}
	})
}

// changeTo makes a folder of migrations lead to tables, as far as that can be.
func changeTo(t *testing.T, dir string, tables []Table, concurrent bool) bool {
	t.Helper()
	before := filesOf(t, dir)
	defs := &Definitions{tables}
	change, err := PlanChange(dir, defs, ChangeOptions{AllowDestroy: []string{"all"}, ConcurrentIndexes: concurrent})
	if errors.Is(err, ErrCannotChange) {
		return false
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, definitionText(tables))
	}
	if _, err := change.Write(); err != nil {
		t.Fatal(err)
	}
	after := filesOf(t, dir)
	for name, text := range before {
		if name != LockName && !bytes.Equal(text, after[name]) {
			t.Fatalf("%s was written anew", name)
		}
	}
	for _, file := range change.Files {
		isNew := before[file.Name] == nil
		if isNew == file.Exists || isNew && string(after[file.Name]) != file.SQL {
			t.Fatalf("%s, new %v: not what was planned", file.Name, isNew)
		}
		if isNew && file.Name > "00004" { // those of the cs9 schema are always the same
			parseMigration(t, file.SQL)
		}
	}
	again, err := PlanChange(dir, defs, ChangeOptions{ConcurrentIndexes: concurrent})
	if err != nil {
		t.Fatalf("planned again: %v in\n%s", err, definitionText(tables))
	}
	if _, err := again.Write(); err != nil || again.LockChanges() || len(filesOf(t, dir)) != len(after) {
		t.Fatalf("planned again, there is something to do: %v, %q\n%s\n%s", err, again.Hazards, definitionText(tables), again.lock)
	}
	return true
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Names that change places with what is not there would do so for ever.
func TestARenameIsDoneOnce(t *testing.T) {
	for _, c := range []struct {
		names       []string
		wanted, can []rename
	}{
		{[]string{"a"}, []rename{{"b", "a"}, {"a", "b"}}, []rename{{"a", "b"}}},
		{[]string{"a"}, []rename{{"a", "b"}, {"b", "c"}}, []rename{{"a", "b"}}},
		{[]string{"a", "b"}, []rename{{"a", "b"}, {"b", "c"}}, []rename{{"b", "c"}, {"a", "b"}}},
		{[]string{"a", "b"}, []rename{{"a", "b"}, {"b", "a"}}, nil},
	} {
		if got := possibleRenames(c.names, c.wanted); !slices.Equal(got, c.can) {
			t.Errorf("%q of %q: %q, not %q", c.wanted, c.names, got, c.can)
		}
	}
}
