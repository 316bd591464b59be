package inspect

import (
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// ownNames turn the names of a table's objects into those that a definition
// gives its entries: the part from which cs9gen would derive the name, or else
// the name itself, which is written as the exact one then.
type ownNames struct{ index, unique, check, foreignKey func(string) (string, bool) }

func newOwnNames(t sqlgen.Table) *ownNames {
	bare := func() *sqlgen.Table { return &sqlgen.Table{Schema: t.Schema, Name: t.Name} }
	return &ownNames{
		index: deriving(t.Name, "_idx", func(own string) string {
			t := bare()
			t.Indexes = sqlgen.Named[sqlgen.Index]{{Name: own}}
			return sqlgen.NamesOf(t).Indexes[0].Value
		}),
		unique: deriving(t.Name, "_key", func(own string) string {
			t := bare()
			t.Unique = sqlgen.Named[sqlgen.Unique]{{Name: own}}
			return sqlgen.NamesOf(t).Unique[0].Value
		}),
		check: deriving(t.Name, "_check", func(own string) string {
			t := bare()
			t.Checks = sqlgen.Named[sqlgen.Check]{{Name: own}}
			return sqlgen.NamesOf(t).Checks[0].Value
		}),
		foreignKey: deriving(t.Name, "_fkey", func(own string) string {
			t := bare()
			t.ForeignKeys = sqlgen.Named[sqlgen.ForeignKey]{{Name: own}}
			return sqlgen.NamesOf(t).ForeignKeys[0].Value
		}),
	}
}

// deriving returns a function that takes the table's name and the suffix from an
// object's name; false: what is left is not what the name is derived from.
func deriving(table, suffix string, derive func(string) string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		own, ok := strings.CutPrefix(name, table+"_")
		if !ok {
			return name, false
		}
		if own, ok = strings.CutSuffix(own, suffix); !ok || own == "" || derive(own) != name {
			return name, false
		}
		return own, true
	}
}

// add adds an entry under its own name; exact sets the exact one. Where another
// entry has that name, it is the exact one too, made different.
func add[T any](entries *sqlgen.Named[T], ownName func(string) (string, bool), name string, value T, exact func(*T)) {
	own, derived := ownName(name)
	for taken(*entries, own) {
		if derived {
			own, derived = name, false
			continue
		}
		own += "_"
	}
	if !derived {
		exact(&value)
	}
	*entries = append(*entries, sqlgen.NamedItem[T]{Name: own, Value: value})
}

func taken[T any](entries sqlgen.Named[T], name string) bool {
	_, ok := entries.Get(name)
	return ok
}
