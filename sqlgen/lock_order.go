package sqlgen

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrOrder says that migrations have numbers in whose order they cannot be applied.
var ErrOrder = errors.New("the migrations are not in an order in which they can be applied")

// inOrder refuses numbers by which a file would be applied before one that it
// needs: after those of the cs9 schema come those of the tables, each table's as
// they were generated, and those of a table that another one references before
// the last of that one.
func (l *lock) inOrder(dir string, present migrationFiles) error {
	number := map[string]int{}
	for _, f := range present {
		number[f.name] = f.number
	}
	var problems []error
	after := func(name, first string) {
		if number[name] <= number[first] {
			path := filepath.Join(dir, name)
			problems = append(problems, differs(path, "a number above that of "+first, "one below it",
				fmt.Errorf("%w: %s needs %s, which has a higher number: rename the one that no database has applied, and after it, in their order, those that need it", ErrOrder, path, first)))
		}
	}
	before := ""
	for _, f := range l.Schema.Files {
		if before != "" {
			after(f.Name, before)
		}
		before = f.Name
	}
	for _, item := range l.Tables {
		before := before
		for _, f := range item.Value.Files {
			if before != "" {
				after(f.Name, before)
			}
			before = f.Name
		}
		if item.Value.Table == nil || item.Value.Table.Adopt || len(item.Value.Files) == 0 {
			continue
		}
		for _, name := range item.Value.Table.referenced() {
			if other := l.named(name); other != nil && len(other.Files) > 0 {
				after(before, other.Files[0].Name)
			}
		}
	}
	return errors.Join(problems...)
}

// named returns a table that is there by its joined name, as foreign keys have it.
func (l *lock) named(joined string) *lockedTable {
	for i := range l.Tables {
		if t := l.Tables[i].Value.Table; t != nil && !t.Adopt && JoinName(t.Schema, t.Name) == joined {
			return &l.Tables[i].Value
		}
	}
	return nil
}
