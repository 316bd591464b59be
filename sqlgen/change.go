package sqlgen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ChangeOptions are what the caller of [PlanChange] wants.
type ChangeOptions struct {
	// AllowDestroy names what may be destroyed, as [DestroyError] does, or is
	// "all". Defaults to nothing.
	AllowDestroy []string
	// ConcurrentIndexes builds indexes of tables that are there already
	// CONCURRENTLY, in a migration of its own that runs outside a transaction.
	ConcurrentIndexes bool
}

// Change is what a folder of migrations lacks for it to lead to the definitions.
type Change struct {
	Files    []PlannedFile // those that are there, and the new ones, by number
	Hazards  []string      // what the new ones cost those who use the tables meanwhile
	Destroys []Destroyed   // what the new ones destroy; allowed

	dir    string
	lock   []byte         // nil when it is as it should be
	tables []changedTable // what the new ones are for
}

// Destroyed is data that a change destroys.
type Destroyed struct {
	Name string // schema.table, or schema.table.column; a partition by its own name
	What string // in words
}

// DestroyError says that a change destroys data, and that this was not allowed.
type DestroyError struct{ List []Destroyed }

// Error returns one line for each thing that would be destroyed.
func (e *DestroyError) Error() string {
	lines := make([]string, len(e.List))
	for i, d := range e.List {
		lines[i] = d.Name + ": " + d.What
	}
	return "the change destroys data: " + strings.Join(lines, "; ")
}

// ErrCannotChange says that no migration can make the change.
var ErrCannotChange = errors.New("this change cannot be generated")

// PlanChange compares definitions with what the migrations of a folder lead to,
// and returns the migrations that are missing. Nothing is written.
//
// A migration that is there is never changed; a new one has a number above all
// others. A folder that was generated before there was a lock file is taken over
// when its files are exactly what the definitions give, else [ErrFileDiffers].
// What would be destroyed without leave is a [*DestroyError].
func PlanChange(dir string, defs *Definitions, options ChangeOptions) (*Change, error) {
	present, highest, err := readMigrations(dir)
	if err != nil {
		return nil, err
	}
	if err := present.twice(dir); err != nil {
		return nil, err
	}
	locked, err := readLock(dir)
	if err != nil {
		return nil, err
	}
	p := &changePlan{dir: dir, defs: defs, options: options, present: present, next: highest + 1, lock: locked}
	if locked == nil {
		err = p.takeOver()
	} else {
		err = p.compare()
	}
	if err != nil {
		return nil, err
	}
	return p.change()
}

// Write writes the new migrations and then the lock file, and returns the names
// of the migrations.
func (c *Change) Write() ([]string, error) {
	written, err := Write(c.dir, c.Files)
	if err != nil || c.lock == nil {
		return written, err
	}
	return written, writeFile(filepath.Join(c.dir, LockName), c.lock)
}

// LockChanges reports whether Write changes the lock file.
func (c *Change) LockChanges() bool { return c.lock != nil }

// changePlan gathers what [PlanChange] returns.
type changePlan struct {
	dir     string
	defs    *Definitions
	options ChangeOptions
	present migrationFiles
	next    int // number of the next new file
	lock    *lock

	files    []PlannedFile
	hazards  []string
	destroys []Destroyed
	tables   []changedTable
}

// change returns what was gathered.
func (p *changePlan) change() (*Change, error) {
	c := &Change{Files: p.files, Hazards: p.hazards, Destroys: p.destroys, dir: p.dir, tables: p.tables}
	text := p.lock.text()
	old, err := os.ReadFile(filepath.Join(p.dir, LockName))
	if err != nil || !bytes.Equal(old, text) {
		c.lock = text
	}
	return c, nil
}

// takeOver makes the lock of a folder that has none.
func (p *changePlan) takeOver() error {
	files, err := Generate(p.defs)
	if err != nil {
		return err
	}
	for _, f := range p.present {
		if f.table != "" && !slices.ContainsFunc(files, func(g GeneratedFile) bool { return g.Table == f.table }) {
			path := filepath.Join(p.dir, f.name)
			return differs(path, "a file of a table that is defined, as there is no "+LockName, "one of "+f.table+", which the definitions do not have",
				fmt.Errorf("%w: %s is of table %s, which the definitions do not have, and there is no %s: put its definition back as it was and generate once, then drop it",
					ErrLock, path, f.table, LockName))
		}
	}
	planned, err := Plan(p.dir, files)
	if err != nil {
		return fmt.Errorf("there is no %s in %s, so that its migrations are taken over only when they are exactly what the definitions give: %w", LockName, p.dir, err)
	}
	p.lock, p.files = newLock(), planned
	for i, f := range files {
		sum := digest([]byte(f.SQL))
		if f.Table == "" {
			p.lock.Schema.Files = p.lock.Schema.Files.add(planned[i].Name, sum)
			continue
		}
		e := p.lock.entry(f.Table)
		e.Files = e.Files.add(planned[i].Name, sum)
	}
	for i := range p.defs.Tables {
		t := &p.defs.Tables[i]
		hash, err := hashOf(t)
		if err != nil {
			return err
		}
		e := p.lock.entry(Qualified(t.Schema, t.Name))
		e.set(t, hash)
		if !slices.ContainsFunc(p.files, func(f PlannedFile) bool { return f.Exists && f.Name == e.Files[0].Name }) {
			p.tables = append(p.tables, changedTable{to: t})
		}
	}
	return nil
}

// compare makes what the lock and the definitions differ in.
func (p *changePlan) compare() error {
	names, err := p.lock.resolve(p.dir, p.present)
	if err != nil {
		return err
	}
	if err := p.lock.inOrder(p.dir, p.present); err != nil {
		return err
	}
	for _, name := range names {
		p.files = append(p.files, PlannedFile{Name: name, Exists: true})
	}
	m, err := p.match()
	if err != nil {
		return err
	}
	if err := p.allowed(m); err != nil {
		return err
	}
	steps := []func(matched) error{p.writeChanges, p.writeCreated}
	first, err := m.createFirst()
	if err != nil {
		return err
	}
	if first {
		slices.Reverse(steps)
	}
	for _, write := range steps {
		if err := write(m); err != nil {
			return err
		}
	}
	return nil
}

// writeCreated adds a migration for each new table.
func (p *changePlan) writeCreated(m matched) error {
	created, err := creationOrder(m.created)
	if err != nil {
		return err
	}
	for _, t := range created {
		f, err := generateTable(t)
		if err != nil {
			return err
		}
		hash, err := hashOf(t)
		if err != nil {
			return err
		}
		p.lock.entry(f.Table).set(t, hash)
		p.add(f.Base, f.SQL, f.Table)
		p.tables = append(p.tables, changedTable{to: t})
	}
	return nil
}

// add adds a new file, and its digest to each of its tables in the lock. A file
// of these very bytes that the lock does not know was written by a call that did
// not come to its end: it is that one.
func (p *changePlan) add(base, sql string, tables ...string) {
	f := PlannedFile{Name: fmt.Sprintf("%05d_%s.sql", p.next, base), SQL: sql}
	known := func(name string) bool {
		return slices.ContainsFunc(p.files, func(f PlannedFile) bool { return f.Name == name })
	}
	i := slices.IndexFunc(p.present, func(m migrationFile) bool { return string(m.text) == sql && !known(m.name) })
	if i >= 0 {
		f.Name, f.Exists = p.present[i].name, true
	} else {
		p.next++
	}
	p.files = append(p.files, f)
	for _, table := range tables {
		e := p.lock.entry(table)
		e.Files = e.Files.add(f.Name, digest([]byte(sql)))
	}
}

// matched says which table of the lock became which of the definitions.
type matched struct {
	changed []tableChange
	dropped []lockedTable
	created []*Table
}

// match compares the tables of the lock with the definitions. Only what is
// declared, by was, is another name of the same; such a table comes before one
// that takes the name it had.
func (p *changePlan) match() (matched, error) {
	var m matched
	used, done := map[string]bool{}, map[*Table]bool{}
	same := func(t *Table, name string) error {
		used[name], done[t] = true, true
		e, to := p.lock.find(name), normalised(t)
		hash, err := hashOf(t)
		m.changed = append(m.changed, tableChange{
			from: e.Table, to: &to, fromHash: e.Hash, toHash: hash, renames: columnRenames(e.Table, t), entries: entriesRenamed(e.Table, t),
		})
		return err
	}
	for again := true; again; {
		again = false
		for i := range p.defs.Tables {
			t := &p.defs.Tables[i]
			name := Qualified(t.Schema, t.Name)
			if done[t] || p.lock.find(name) != nil && !used[name] {
				continue
			}
			if was := p.was(t, used); was != "" {
				again = true
				if err := same(t, was); err != nil {
					return m, err
				}
			}
		}
	}
	for i := range p.defs.Tables {
		t := &p.defs.Tables[i]
		name := Qualified(t.Schema, t.Name)
		switch {
		case done[t]:
		case p.lock.find(name) == nil, used[name]:
			m.created = append(m.created, t)
		default:
			if err := same(t, name); err != nil {
				return m, err
			}
		}
	}
	for i := range p.lock.Tables {
		if item := &p.lock.Tables[i]; item.Value.Table != nil && !used[item.Name] {
			m.dropped = append(m.dropped, item.Value)
		}
	}
	others := movedBy(m.changed)
	for i := range m.changed {
		m.changed[i].others = others
	}
	return m, nil
}

// was returns the name in the lock of a table that says it had another one; ""
// when there is none.
func (p *changePlan) was(t *Table, used map[string]bool) string {
	for _, item := range p.lock.Tables {
		from := item.Value.Table
		if t.Was == "" || from == nil || used[item.Name] {
			continue
		}
		if t.Was == item.Name || t.Was == from.Schema+"."+from.Name || t.Was == from.Name && t.Schema == from.Schema {
			return item.Name
		}
	}
	return ""
}
