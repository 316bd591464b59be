package sqlgen

import (
	"fmt"
	"slices"
)

// rename is what a column was called, and is to be called.
type rename struct{ from, to string }

// tableChange makes one table another one. Both are normalised; the way back is
// a tableChange too.
type tableChange struct {
	from, to         *Table
	fromHash, toHash string
	renames          []rename // of columns, in the order in which they can be done
	entries          entryRenames
	others           []movedTable // all tables that get other names, or columns of theirs

	// later are the indexes that a file of their own builds: this one neither
	// makes nor, on the way back, drops them.
	later map[string]bool
	back  bool
}

// reversed returns the change that takes c back.
func (c tableChange) reversed() tableChange {
	r := tableChange{from: c.to, to: c.from, fromHash: c.toHash, toHash: c.fromHash, renames: reversedRenames(c.renames), later: c.later, back: true}
	r.entries = c.entries.reversed()
	for _, other := range c.others {
		r.others = append(r.others, other.reversed())
	}
	return r
}

// moved reports whether the table gets another name or schema.
func (c tableChange) moved() bool { return c.from.Schema != c.to.Schema || c.from.Name != c.to.Name }

// begin is the statement that keeps runs out of the table.
func (c tableChange) begin() step {
	return step{sql: fmt.Sprintf("SELECT cs9.begin_change(%s, %s, %s)", QuoteLiteral(c.from.Schema), QuoteLiteral(c.from.Name), QuoteLiteral(c.fromHash))}
}

// parts returns the change without its first statement, which is begin; nil when
// the two tables are the same to the database.
func (c tableChange) parts() (*changeParts, error) {
	p, err := c.plan()
	if err != nil || p == nil {
		return nil, err
	}
	live := Qualified(c.to.Schema, c.to.Name)
	return &changeParts{first: p.keyDrops, last: p.keyCreates, middle: []section{
		{"", p.requires},
		{"The staging template is made anew below.", p.templateDrops},
		{"What goes, and has a name that is wanted below.", p.early},
		{"Names.", p.renames},
		{"The one partition becomes the table again.", p.join},
		{"What goes.", p.drops},
		{"Columns.", p.columns},
		{"Partitions that take other rows than before.", p.rebound},
		{"What is new.", p.creates},
		{"The table becomes the one partition of a new one, which takes its name.", p.split},
		{"The staging template: each run writes to a copy of it.", p.templateCreates},
		{"The steps of a publish.", p.routines},
		{"", p.remarks},
		{"From here on runs may write to " + live + " again.", plainSteps(p.register)},
	}}, nil
}

// tablePlan is a change in the order in which it is done.
type tablePlan struct {
	keyDrops, requires, templateDrops, early, renames, join, drops, columns, rebound, creates, split []step
	templateCreates, routines, remarks, keyCreates                                                   []step
	register                                                                                         string
}

func (p *tablePlan) empty() bool {
	for _, steps := range [][]step{p.keyDrops, p.templateDrops, p.early, p.renames, p.join, p.drops, p.columns, p.rebound, p.creates, p.split, p.templateCreates, p.routines, p.remarks, p.keyCreates} {
		if len(steps) > 0 {
			return false
		}
	}
	return true
}

// plan works the change out; nil when there is none. Another order of columns,
// or of whatever has names, is none by itself.
func (c tableChange) plan() (*tablePlan, error) {
	same := c
	same.from = inOrderOf(c.from, c.to)
	if p, err := same.work(); err != nil || p == nil {
		return nil, err
	}
	return c.work()
}

// work is plan for tables of which the order counts.
func (c tableChange) work() (*tablePlan, error) {
	mid := c.renamed()
	reshape := c.reshapes(mid)
	was, is := mid, c.to
	if reshape {
		was, is = was.joined(), is.joined()
	}
	var p tablePlan
	columns := diffColumns(was, is)
	p.columns = columns.steps
	fromR, toR := newRenderer(c.from), newRenderer(c.to)

	d := diff{recreated: columns.recreated, dropped: columns.dropped, skip: c.skips}
	d.objects(newRenderer(was).liveObjects(), newRenderer(is).liveObjects())
	keysGone := d.takeKeyDrops()
	p.keyDrops = c.keyDrops(mid, keysGone)
	var early map[string]bool
	early, p.early = c.earlyDrops(mid, &d)
	p.renames = c.renameSteps(mid, keysGone, early)
	before := c.renamed().partitionTables()
	for _, o := range d.creates {
		if s := c.create(o, is, before); o.kind == foreignKey {
			p.keyCreates = append(p.keyCreates, s)
		} else {
			p.creates = append(p.creates, s)
		}
	}
	if needs := toR.requirements(); len(fromR.requirements()) == 0 {
		p.requires = plainSteps(needs...)
	}
	p.rebound = d.rebinds(is)

	// comments, grants and routines are those of the table as it will be
	d.moved = c.moved()
	d.template = reshape || len(p.early) > 0 || len(p.renames) > 0 || fromR.templateObjects()[0].create != toR.templateObjects()[0].create
	rest, err := c.otherObjects(mid, &d)
	if err != nil {
		return nil, err
	}
	p.routines, p.remarks = rest.routines, rest.remarks
	for _, o := range slices.Backward(d.drops) {
		p.drops = append(p.drops, step{sql: o.drop})
	}
	if d.template {
		p.templateDrops = plainSteps(fromR.templateObjects()[0].drop)
		p.templateCreates = creating(toR.templateObjects())
	}
	if reshape {
		p.join, p.split = reshapeSteps(mid, c.to)
	}
	midR := newRenderer(mid)
	if p.empty() && len(c.later) == 0 && !c.follows() && midR.change("", c.from) == toR.change("", c.from) {
		return nil, nil
	}
	p.register = toR.change(c.toHash, c.from)
	return &p, nil
}

// skips says which objects a file of their own makes.
func (c tableChange) skips(o object, drops bool) bool {
	return o.kind == index && c.later[o.id] && drops == c.back
}

// restSteps are the parts of a change that no row depends on.
type restSteps struct{ routines, remarks []step }

// otherObjects compares routines, comments and grants.
func (c tableChange) otherObjects(mid *Table, d *diff) (restSteps, error) {
	var rest restSteps
	midR, toR := newRenderer(mid), newRenderer(c.to)
	was, err := newRenderer(c.from).routineObjects() // PostgreSQL renames no column in their text
	if err != nil {
		return rest, err
	}
	is, err := toR.routineObjects()
	if err != nil {
		return rest, err
	}
	for i := range is {
		if is[i].kind == routine && (d.moved || is[i].create != was[i].create) {
			rest.routines = append(rest.routines, step{sql: orReplace(is[i].create)})
		}
	}
	from := len(d.creates)
	d.objects(slices.Concat(midR.commentObjects(), midR.grantObjects()), slices.Concat(toR.commentObjects(), toR.grantObjects()))
	rest.remarks = creating(d.creates[from:])
	return rest, nil
}

// diff collects what is to be dropped and created.
type diff struct {
	recreated, dropped map[string]bool // columns
	moved, template    bool            // the table got another name; its template is made anew
	skip               func(o object, drops bool) bool

	drops, creates []object
	rebound        []rebound
}

// objects compares two lists of objects.
func (d *diff) objects(was, is []object) {
	for _, o := range was {
		if !slices.ContainsFunc(is, o.same) {
			d.drop(o)
		}
	}
	for _, o := range is {
		i := slices.IndexFunc(was, o.same)
		switch {
		case i < 0:
		case o.create == was[i].create && !d.forced(o):
			continue
		case o.kind == partition:
			d.rebound = append(d.rebound, rebound{was[i], o})
			continue
		case o.kind != comment:
			d.drop(was[i])
		}
		if o.create != "" && !d.skip(o, false) {
			d.creates = append(d.creates, o)
		}
	}
}

func (d *diff) drop(o object) {
	gone := func(column string) bool { return d.recreated[column] || d.dropped[column] }
	if o.drop == "" || d.skip(o, true) || o.kind == comment && slices.ContainsFunc(o.columns, gone) {
		return
	}
	d.drops = append(d.drops, o)
}

// forced reports whether an object that did not change must be made again.
func (d *diff) forced(o object) bool {
	return o.on == onRoutines && d.moved || o.on == onTemplate && d.template ||
		slices.ContainsFunc(o.columns, func(column string) bool { return d.recreated[column] })
}

// create returns the step that makes an object of the live table, with what it
// costs a table that has rows.
func (c tableChange) create(o object, is *Table, before []partitionTable) step {
	live := Qualified(is.Schema, is.Name)
	s := step{sql: o.create}
	switch o.kind {
	case partition:
		s.hazards = besideDefault(is, o, before)
	case primaryKey:
		s.hazards = []string{fmt.Sprintf("builds the index of the primary key of %s under ACCESS EXCLUSIVE: readers and writers wait. It fails where two rows have the same key, or a key has a NULL", live)}
	case uniqueConstraint:
		s.hazards = []string{fmt.Sprintf("builds the index of %s under ACCESS EXCLUSIVE: readers and writers of %s wait. It fails where two rows have the same values", QuoteIdent(o.name), live)}
	case checkConstraint:
		s.hazards = []string{fmt.Sprintf("reads all rows of %s under ACCESS EXCLUSIVE to check %s: readers and writers wait. It fails where a row breaks it", live, QuoteIdent(o.name))}
	case foreignKey:
		s.hazards = []string{fmt.Sprintf("reads all rows of %s to check %s, while writers of it and of the referenced table wait. It fails where the referenced row is missing", live, QuoteIdent(o.name))}
	case index:
		s.hazards = []string{fmt.Sprintf("builds the index %s while writers of %s wait; --concurrent-indexes builds it in a file of its own without that", QuoteIdent(o.name), live)}
		if o.unique {
			s.hazards[0] += ". It fails where two rows have the same values"
		}
	}
	return s
}

// takeKeyDrops takes the foreign keys out of what is to be dropped, and returns
// the names of their entries.
func (d *diff) takeKeyDrops() map[string]bool {
	gone := map[string]bool{}
	d.drops = slices.DeleteFunc(d.drops, func(o object) bool {
		if o.kind == foreignKey {
			gone[o.id] = true
		}
		return o.kind == foreignKey
	})
	return gone
}

// keyDrops drops foreign keys, given by their entries in mid, by the names that
// they and the table have before anything is renamed.
func (c tableChange) keyDrops(mid *Table, gone map[string]bool) []step {
	var out []step
	before := newRenderer(c.from).liveObjects()
	for i, o := range newRenderer(mid).liveObjects() {
		if o.kind == foreignKey && gone[o.id] {
			out = append(out, step{sql: before[i].drop})
		}
	}
	return out
}

// inOrderOf returns a table with what another one has too in its order, and the
// rest behind it.
func inOrderOf(t, other *Table) *Table {
	out := *t
	out.Columns = ordered(t.Columns, other.Columns, func(c Column) string { return c.Name })
	out.Checks = ordered(t.Checks, other.Checks, func(c NamedItem[Check]) string { return c.Name })
	if t.Partitions != nil && other.Partitions != nil {
		out.Partitions = t.Partitions.inOrderOf(other.Partitions)
	}
	return &out
}

func ordered[S ~[]E, E any](items, like S, name func(E) string) S {
	at := func(item E) int {
		i := slices.IndexFunc(like, func(other E) bool { return name(other) == name(item) })
		if i < 0 {
			return len(like)
		}
		return i
	}
	out := slices.Clone(items)
	slices.SortStableFunc(out, func(a, b E) int { return at(a) - at(b) })
	return out
}
