package sqlgen

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/migrations"
)

// LockName is the file beside the migrations that says what was generated last.
const LockName = "cs9gen.lock"

// ErrLock says that the lock file and the migrations beside it cannot both be
// right.
var ErrLock = errors.New(LockName + " and the migrations do not fit together")

const lockHeader = `# What cs9gen generate last turned into migrations: each table as the files beside this one leave it, and these
# files' SHA-256. The next call compares the definitions with it. Do not edit it; commit it with the migrations.
# Branches that change different tables merge by themselves. Where both changed one table, take all of that table's
# part here from one branch, remove the other branch's migration of it, which no database may have applied yet, and
# generate again.
`

// lock is the state that the migrations of a folder lead to. One field a line,
// and nothing that two tables share, so that git can merge it.
type lock struct {
	Version int                `yaml:"version" jsonschema:"required"`
	Schema  lockedSchema       `yaml:"cs9_schema" jsonschema:"required"`
	Tables  Named[lockedTable] `yaml:"tables"`
}

// lockedSchema is the cs9 schema that the folder installs.
type lockedSchema struct {
	Version int           `yaml:"version" jsonschema:"required"`
	Files   Named[string] `yaml:"files"`
}

// lockedTable is one table, or what is left of one that was dropped: its files.
type lockedTable struct {
	Hash  string        `yaml:"definition"` // "" for a table that was dropped
	Files Named[string] `yaml:"files"`      // SHA-256 by name, in the order they were written
	Table *Table        `yaml:"table"`
}

func newLock() *lock {
	return &lock{Version: formatVersion, Schema: lockedSchema{Version: migrations.SchemaVersion}}
}

// find returns a table by its qualified name; nil when there is none, or it was
// dropped.
func (l *lock) find(qualified string) *lockedTable {
	for i := range l.Tables {
		if l.Tables[i].Name == qualified && l.Tables[i].Value.Table != nil {
			return &l.Tables[i].Value
		}
	}
	return nil
}

// entry returns a table by its qualified name, a new one if need be.
func (l *lock) entry(qualified string) *lockedTable {
	for i := range l.Tables {
		if l.Tables[i].Name == qualified {
			return &l.Tables[i].Value
		}
	}
	l.Tables = append(l.Tables, NamedItem[lockedTable]{Name: qualified})
	return &l.Tables[len(l.Tables)-1].Value
}

// set writes down what a table is now.
func (e *lockedTable) set(t *Table, hash string) {
	n := normalised(t)
	e.Table, e.Hash = &n, hash
}

// text returns the lock file.
func (l *lock) text() []byte {
	slices.SortStableFunc(l.Tables, func(a, b NamedItem[lockedTable]) int { return cmp.Compare(a.Name, b.Name) })
	var w lockWriter
	w.WriteString(lockHeader)
	w.value(reflect.ValueOf(l).Elem(), 0)
	return []byte(w.String())
}

// readLock returns the lock of a folder of migrations; nil when there is none.
func readLock(dir string) (*lock, error) {
	path := filepath.Join(dir, LockName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sqlgen: read lock: %w", err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
			return nil, differs(path, "one side of each conflict", fmt.Sprintf("a merge conflict that is not resolved, in line %d", i+1),
				fmt.Errorf("%w: %s:%d: a merge conflict is not resolved: the file's first lines say how", ErrLock, path, i+1))
		}
	}
	body, problems := parse(path, data)
	var l lock
	if len(problems) == 0 {
		d := &decoder{src: &source{file: path, values: map[string]position{}, keys: map[string]position{}, bad: map[string]bool{}}}
		d.decode(body, reflect.ValueOf(&l).Elem(), "", false)
		problems = d.problems
	}
	if len(problems) > 0 {
		return nil, differs(path, "a file as cs9gen generate writes it", fmt.Sprint(problems[0]),
			fmt.Errorf("%w: %s: take the file from version control", ErrLock, problems[0]))
	}
	return &l, l.check(path)
}

// check compares each table with its hash, which the last migration of the
// table registers: a merge of two changes of one table has one hash too few.
func (l *lock) check(path string) error {
	if l.Version != formatVersion {
		return differs(path, fmt.Sprintf("version %d, which this program reads", formatVersion), fmt.Sprintf("version %d", l.Version),
			fmt.Errorf("%w: %s is of version %d, this program reads version %d: use the cs9gen that wrote it, or a newer one", ErrLock, path, l.Version, formatVersion))
	}
	if l.Schema.Version != migrations.SchemaVersion {
		return differs(path, fmt.Sprintf("the cs9 schema version %d, for which this program generates", migrations.SchemaVersion), fmt.Sprintf("version %d", l.Schema.Version),
			fmt.Errorf("%w: %s is of the cs9 schema version %d, this program generates for version %d: use the cs9gen that wrote it", ErrLock, path, l.Schema.Version, migrations.SchemaVersion))
	}
	for _, item := range l.Tables {
		e := item.Value
		if e.Table == nil {
			continue
		}
		hash, err := hashOf(e.Table)
		if err != nil {
			return err
		}
		if hash != e.Hash || Qualified(e.Table.Schema, e.Table.Name) != item.Name {
			return differs(path, "table "+item.Name+" as its last migration leaves it", "another definition: it was edited, or two branches changed it",
				fmt.Errorf("%w: %s: table %s is not what its last migration makes of it: it was edited, or two branches changed it; the file's first lines say what to do", ErrLock, path, item.Name))
		}
	}
	return nil
}

// resolve compares the files of the lock with those that are there, and follows
// one that got another number. It returns the names of the files that are there,
// in order.
func (l *lock) resolve(dir string, present migrationFiles) ([]string, error) {
	byHash, byName := map[string]string{}, map[string]string{}
	for _, f := range present {
		sum := digest(f.text)
		byName[f.name] = sum
		if byHash[sum] == "" {
			byHash[sum] = f.name
		}
	}
	var problems []error
	known := map[string]bool{}
	follow := func(files Named[string]) {
		for i := range files {
			f := &files[i]
			if byName[f.Name] != f.Value {
				path := filepath.Join(dir, f.Name)
				if moved := byHash[f.Value]; moved != "" && byName[f.Name] == "" {
					f.Name = moved
				} else if byName[f.Name] == "" {
					problems = append(problems, differs(path, "the file that "+LockName+" names", "",
						fmt.Errorf("%w: %s is missing: take it from version control, and if it was never applied and is to go, take %s as it was before it", ErrLock, path, LockName)))
				} else {
					problems = append(problems, differs(path, "the file as it was generated", "one that was edited since",
						fmt.Errorf("%w: %s: it was edited since it was generated: restore it", ErrFileDiffers, path)))
				}
			}
			known[f.Name] = true
		}
	}
	follow(l.Schema.Files)
	for i := range l.Tables {
		follow(l.Tables[i].Value.Files)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	var names []string
	for _, f := range present {
		if known[f.name] {
			names = append(names, f.name)
		}
	}
	return names, nil
}
