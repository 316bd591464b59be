package model

import (
	"cmp"
	"fmt"
	"slices"
)

// condition is a condition that SQL and Go read alike. Its value is null where
// the column is.
type condition struct {
	column string // k, u, v or p
	op     string // =, <, or even
	value  int
	text   string // what p is compared with
}

func (c condition) sql() string {
	switch {
	case c.column == "p":
		return fmt.Sprintf("p = '%s'", c.text)
	case c.op == "even":
		return c.column + " % 2 = 0"
	default:
		return fmt.Sprintf("%s %s %d", c.column, c.op, c.value)
	}
}

// printed is the condition as it is recorded.
func (c condition) printed() string {
	switch {
	case c.column == "p":
		return fmt.Sprintf("(p = '%s'::text)", c.text)
	case c.op == "even":
		return "((" + c.column + " % 2) = 0)"
	default:
		return "(" + c.sql() + ")"
	}
}

// isTrue says whether the condition is true for a row, neither false nor null.
func (c condition) isTrue(r row) bool {
	value := map[string]int{"k": r.K, "u": r.U, "v": r.V}[c.column]
	switch {
	case c.column == "p":
		return r.P == c.text
	case c.column == "u" && r.U == 0:
		return false
	case c.op == "even":
		return value%2 == 0
	case c.op == "<":
		return value < c.value
	default:
		return value == c.value
	}
}

// deletion is a recorded delete; kind is all, where or keep.
type deletion struct {
	table string
	kind  string
	cond  condition
	plan  int
}

func (d deletion) removes(r row) bool {
	switch d.kind {
	case "all":
		return true
	case "where":
		return d.cond.isTrue(r)
	default:
		return !d.cond.isTrue(r)
	}
}

func (d deletion) sql() string {
	if d.kind == "all" {
		return ""
	}
	return d.cond.sql()
}

// step is one step of a publish.
type step struct {
	kind     string
	table    string
	relation string
	remove   deletion
	rows     []stagedRow // of a move: those not yet moved
	total    int         // -1: no rows
	done     int
	finished bool
}

// finish predicts finish_run: S9011 and S9012 of each table come before S9014
// and S9013 of each.
func (w *world) finish(c int, r *run, attempt int) string {
	if refusal := r.fence(attempt); refusal != "" {
		return refusal
	}
	if w.holder != c {
		return "S9019"
	}
	if r.blocked(0, attempt) {
		return "S9003"
	}
	refusal := r.checkWrites()
	if refusal == "" {
		refusal = w.checkPublish(r, r.tables)
	}
	if refusal != "" {
		r.failed = true
		return refusal
	}
	r.state = "ready"
	return ""
}

// checkWrites is P4 and P5.
func (r *run) checkWrites() string {
	for _, name := range r.tables {
		keys := map[string]bool{}
		for _, s := range r.staged[name] {
			if keys[s.key()] {
				return "S9011"
			}
			keys[s.key()] = true
		}
		for _, d := range r.deletes {
			for _, s := range r.staged[name] {
				if d.table == name && d.plan > 1 && s.plan != d.plan && d.removes(s.row) {
					return "S9012"
				}
			}
		}
	}
	return ""
}

// checkPublish is P6, of some tables of a run.
func (w *world) checkPublish(r *run, names []string) string {
	for _, name := range names {
		if w.empties(r, name) && len(r.staged[name]) == 0 && !r.allowEmpty {
			return "S9014"
		}
		if _, made := r.staged[name]; (made || swaps(r.modes[name])) && w.lock.blocksReaders(name) {
			return "S9017"
		}
		if w.cannotSwap(r, name) {
			return "S9013"
		}
		values := map[int]bool{}
		for _, s := range r.staged[name] {
			if s.U != 0 && values[s.U] {
				return "S9013"
			}
			values[s.U] = true
			for _, l := range w.live[name] {
				sameKey, sameU := l.key() == s.key(), l.U != 0 && l.U == s.U
				if !r.removes(name, l) && (sameKey && s.op == "i" || sameU && (s.op == "i" || !sameKey)) {
					return "S9013"
				}
			}
		}
	}
	return ""
}

func (r *run) dropsAll(name string) bool {
	return slices.ContainsFunc(r.deletes, func(d deletion) bool { return d.table == name && d.kind == "all" })
}

// empties says whether the run deletes every live row, in whatever words.
func (w *world) empties(r *run, name string) bool {
	if r.dropsAll(name) {
		return true
	}
	for _, l := range w.live[name] {
		if !r.removes(name, l) {
			return false
		}
	}
	return len(w.live[name]) > 0
}

func (r *run) removes(name string, l row) bool {
	return slices.ContainsFunc(r.deletes, func(d deletion) bool { return d.table == name && d.removes(l) })
}

// recordSteps is P5's order: the deletes of a table before its moves; and all
// tables that are not batched after the others, at once.
func (r *run) recordSteps() {
	for _, name := range r.tables {
		if r.modes[name] != "batched" {
			continue
		}
		seen := map[string]bool{}
		for _, d := range r.deletes {
			once := d.kind + d.sql()
			if d.table != name || seen[once] || (r.dropsAll(name) && d.kind != "all") {
				continue
			}
			seen[once] = true
			kind := "delete"
			if d.kind == "all" {
				kind = "truncate"
			}
			for _, leaf := range tableOf(name).leaves {
				if d.kind == "where" && d.cond.column == "p" && leaf != "m.parts_"+d.cond.text {
					continue // it cannot hold such a row
				}
				r.steps = append(r.steps, &step{kind: kind, table: name, relation: leaf, remove: d, total: -1})
			}
		}
		if rows := r.staged[name]; len(rows) > 0 {
			r.steps = append(r.steps, &step{kind: "move", table: name, relation: name, rows: slices.Clone(rows), total: len(rows)})
		}
	}
	if apart := r.apart(); len(apart) > 0 {
		apply := &step{kind: "apply"}
		for _, name := range apart {
			apply.total += len(r.staged[name])
		}
		r.steps = append(r.steps, apply)
	}
	r.steps = append(r.steps, &step{kind: "close", total: -1})
	for _, name := range r.tables {
		if len(r.staged[name]) > 0 || slices.ContainsFunc(r.deletes, func(d deletion) bool { return d.table == name }) {
			r.steps = append(r.steps, &step{kind: "analyze", table: name, relation: name, total: -1})
		}
	}
}

func (r *run) publishable() string {
	if r.state == "ready" || r.state == "publishing" {
		return ""
	}
	return ended(r.state, "S9003")
}

// beginPublish predicts begin_publish; name is empty for all tables.
func (w *world) beginPublish(c int, key, name string) (state string, r *run) {
	r = w.find(key)
	if r == nil {
		return "S9002", nil
	}
	if name != "" && !slices.Contains(r.tables, name) {
		return "S9009", nil
	}
	if w.holder != c {
		return "S9019", nil
	}
	if refusal := r.publishable(); refusal != "" {
		return refusal, nil
	}
	if r.state == "ready" {
		refusal := w.checkPublish(r, r.tables)
		r.recordSteps()
		if refusal == "" && slices.ContainsFunc(r.steps, w.lock.hidesPartitions) {
			refusal = "S9017"
		}
		if refusal != "" {
			r.steps = nil
			return refusal, nil
		}
		r.state = "publishing"
	}
	return "", r
}

// publishNext predicts publish_next: one step, or one batch of a move.
func (w *world) publishNext(c int, r *run, name string, batch int) (state string, more bool) {
	if w.holder != c {
		return "S9019", false
	}
	if refusal := r.publishable(); refusal != "" && r.state != "published" {
		return refusal, false
	}
	var s *step
	for _, next := range r.steps {
		ends := next.kind == "close" || next.kind == "analyze"
		if !next.finished && (name == "" || next.table == name && !ends || next.kind == "apply" && r.modes[name] != "batched" || ends && r.onlyEndLeft()) {
			s = next
			break
		}
	}
	if s == nil {
		w.release(c)
		return "", false
	}
	if state, is := w.hindered(c, r, s, batch); is {
		return state, state == ""
	}
	if s.kind == "apply" {
		if refusal := w.checkPublish(r, r.apart()); refusal != "" {
			w.stats["refused behind the lock"]++
			return refusal, false
		}
	}
	s.finished = true
	switch s.kind {
	case "truncate", "delete":
		for key, l := range w.live[s.table] {
			if l.inLeaf(s.relation) && s.remove.removes(l) {
				delete(w.live[s.table], key)
				if s.kind == "delete" {
					s.done++
				}
			}
		}
	case "move":
		n := min(batch, len(s.rows))
		for _, m := range s.rows[:n] {
			w.live[s.table][m.key()] = m.row
		}
		s.rows, s.done = s.rows[n:], s.done+n
		s.finished = len(s.rows) == 0
	case "apply":
		w.apply(r)
		s.done = s.total
	case "close":
		w.dropLeftovers()
		if l := w.lock; l != nil && l.staged {
			r.left = append(r.left, leftover{l.table, slices.Clone(r.parts[l.table])})
		}
		r.end("published")
	}
	more = r.state != "published" || slices.ContainsFunc(r.steps, func(s *step) bool { return !s.finished })
	if !more {
		w.release(c)
	}
	return "", more
}

func (r *run) onlyEndLeft() bool {
	return !slices.ContainsFunc(r.steps, func(s *step) bool { return !s.finished && s.kind != "close" && s.kind != "analyze" })
}

// publish predicts CALL cs9.publish, or that of one table, and how many notices
// it gives: one a piece that is committed, or a lock that it gave way to.
func (w *world) publish(c int, key, name string, batch int) (state string, notices int) {
	r := w.find(key)
	if r == nil {
		return "S9002", 0
	}
	if refusal := r.publishable(); refusal != "" {
		return refusal, 0
	}
	if !w.claim(c) {
		return "S9001", 0
	}
	defer w.release(c) // whatever ends it
	if state, _ = w.beginPublish(c, key, name); state != "" {
		return state, 0
	}
	for more := true; more; {
		if state, more = w.publishNext(c, r, name, batch); state != "" {
			return state, notices
		}
		notices++
	}
	return "", notices
}

// deleteLive predicts delete_rows, which needs no run.
func (w *world) deleteLive(d deletion) {
	for key, l := range w.live[d.table] {
		if d.removes(l) {
			delete(w.live[d.table], key)
		}
	}
}

// insertLive predicts a plain INSERT by somebody else.
func (w *world) insertLive(name string, r row) string {
	for _, l := range w.live[name] {
		if l.key() == r.key() || l.U != 0 && l.U == r.U {
			return "23505"
		}
	}
	w.live[name][r.key()] = r
	return ""
}

func sortedRows(live map[string]row) []row {
	rows := make([]row, 0, len(live))
	for _, r := range live {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.K, b.K), cmp.Compare(a.P, b.P)) })
	return rows
}
