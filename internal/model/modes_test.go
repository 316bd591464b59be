package model

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// modes are the ways to publish a table.
var modes = []string{"batched", "atomic", "swap", "swap_or_atomic"}

func swaps(mode string) bool { return mode == "swap" || mode == "swap_or_atomic" }

func newRun(q request) *run {
	r := &run{
		key: q.key, list: q.list, tables: q.tables, state: "running", attempt: 1, current: true, today: q.today, allowEmpty: q.allowEmpty,
		staged: map[string][]stagedRow{}, rewritten: map[string]bool{},
		modes: map[string]string{}, split: map[string]bool{}, parts: map[string][]string{}, old: map[string]int{},
	}
	for _, name := range q.tables {
		r.modes[name] = tableOf(name).mode
	}
	for range q.list {
		r.plans = append(r.plans, plan{state: "pending", rows: -1})
	}
	return r
}

func (r *run) modesAsked(q request) {
	if q.mode != "" {
		r.setMode(q.mode, r.tables...)
	}
}

// modeRefused predicts a change of the publish mode of tables, all or none.
func (r *run) modeRefused(mode string, names ...string) bool {
	return mode != "swap_or_atomic" && slices.ContainsFunc(names, func(name string) bool {
		_, made := r.staged[name]
		switch {
		case swaps(mode) && !tableOf(name).partitioned:
			return true
		default:
			return made && r.split[name] && mode == "batched"
		}
	})
}

func (r *run) setMode(mode string, names ...string) {
	for _, name := range names {
		r.modes[name] = mode
		if mode == "swap_or_atomic" && r.modeRefused("swap", name) {
			r.modes[name] = "atomic"
		}
	}
}

// setPublishMode predicts set_publish_mode; name is empty for all tables.
func (w *world) setPublishMode(key, mode, name string) string {
	r := w.find(key)
	if r == nil {
		return "S9002"
	}
	names := r.tables
	if name != "" {
		if !slices.Contains(r.tables, name) {
			return "S9009"
		}
		names = []string{name}
	}
	if r.state != "running" && r.state != "ready" {
		return ended(r.state, "S9003")
	}
	if r.modeRefused(mode, names...) {
		return "S9016"
	}
	r.setMode(mode, names...)
	return ""
}

// apart are the tables of a run that are published in one transaction.
func (r *run) apart() []string {
	return slices.DeleteFunc(slices.Clone(r.tables), func(name string) bool { return r.modes[name] == "batched" })
}

// touched are the partitions of a table that hold rows which the run deletes, or
// that it staged rows for; survives: rows of one of them stay.
func (w *world) touched(r *run, name string) (leaves []string, survives bool) {
	for _, leaf := range tableOf(name).leaves {
		touched := slices.ContainsFunc(r.staged[name], func(s stagedRow) bool { return s.inLeaf(leaf) })
		stays := false
		for _, l := range w.live[name] {
			if l.inLeaf(leaf) {
				removed := r.removes(name, l)
				touched = touched || removed
				stays = stays || !removed
			}
		}
		if touched {
			leaves = append(leaves, leaf)
			survives = survives || stays
		}
	}
	return leaves, survives
}

// stagedLeaves is to how many partitions the staged rows of a table go.
func (r *run) stagedLeaves(name string) (n int) {
	for _, leaf := range tableOf(name).leaves {
		if slices.ContainsFunc(r.staged[name], func(s stagedRow) bool { return s.inLeaf(leaf) }) {
			n++
		}
	}
	return n
}

// modeNow is how a table would be published now: batched, atomic or swap.
func (w *world) modeNow(r *run, name string) string {
	if r.modes[name] != "swap_or_atomic" {
		return r.modes[name]
	}
	if _, survives := w.touched(r, name); survives {
		return "atomic"
	}
	return "swap"
}

// cannotSwap says whether a run that is to swap a table leaves rows in a
// partition that it touches.
func (w *world) cannotSwap(r *run, name string) bool {
	_, survives := w.touched(r, name)
	return r.modes[name] == "swap" && survives
}

// earlyObstacle is asked when plan 1 is done: a table that is to be swapped, and
// that the run deletes nothing of.
func (w *world) earlyObstacle(r *run) bool {
	return slices.ContainsFunc(r.tables, func(name string) bool {
		_, made := r.staged[name]
		deletes := slices.ContainsFunc(r.deletes, func(d deletion) bool { return d.table == name })
		return made && !deletes && w.cannotSwap(r, name)
	})
}

// apply predicts the one transaction: the tables are what the run says, all at
// once, whatever their mode; what was swapped is no staged table any more.
func (w *world) apply(r *run) {
	for _, name := range r.apart() {
		mode := w.modeNow(r, name)
		leaves, _ := w.touched(r, name)
		w.stats["published "+mode]++
		for key, l := range w.live[name] {
			if r.removes(name, l) {
				delete(w.live[name], key)
			}
		}
		rows, made := r.staged[name]
		for _, m := range rows {
			w.live[name][m.key()] = m.row
		}
		if mode != "swap" || !made {
			continue
		}
		r.old[name] += len(leaves)
		switch {
		case r.split[name]:
			r.staged[name] = nil
			r.parts[name] = slices.DeleteFunc(r.parts[name], func(leaf string) bool { return slices.Contains(leaves, leaf) })
		case len(leaves) > 0 && r.stagedLeaves(name) < 2:
			delete(r.staged, name) // where the proof split the rows, their heap stays to the end
		}
	}
}

// stopsApply are the rows at which the one transaction can be stopped: those of
// atomic tables that it inserts, updates or deletes.
func (w *world) stopsApply(r *run) (at []string) {
	for _, name := range r.apart() {
		if w.modeNow(r, name) != "atomic" {
			continue
		}
		again := map[string]bool{}
		for _, m := range r.staged[name] {
			again[m.key()] = true
		}
		for _, l := range sortedRows(w.live[name]) {
			// a second unique index: rows are deleted and inserted anew
			if r.removes(name, l) && (!again[l.key()] || slices.Contains(tableOf(name).columns, "u")) {
				at = append(at, fmt.Sprint(l.V))
			}
		}
		for _, m := range r.staged[name] {
			at = append(at, fmt.Sprint(m.V))
		}
	}
	return at
}

// blocksApply says whether the lock of a rival stops the one transaction.
func (w *world) blocksApply(r *run) bool {
	l := w.lock
	switch {
	case l == nil || !slices.Contains(r.apart(), l.table):
		return false
	case l.staged:
		return swaps(r.modes[l.table])
	case l.mode != "ACCESS SHARE":
		return true
	}
	leaves, _ := w.touched(r, l.table)
	return w.modeNow(r, l.table) == "swap" && len(leaves) > 0
}

// mode is a publish mode, or empty.
func (s *sequence) mode(percent int) string {
	if !s.chance("mode", percent) {
		return ""
	}
	// where all tables can be swapped, more often
	if !slices.ContainsFunc(s.names, func(name string) bool { return !tableOf(name).partitioned }) && s.chance("swap", 50) {
		return "swap"
	}
	return rapid.SampledFrom(append([]string{"atomic", "atomic"}, modes...)).Draw(s.T, "publish mode")
}

// changeMode asks for another mode, often one that what is staged stands against.
func (s *sequence) changeMode() {
	key, mode, name := s.key(), s.mode(100), s.oneTable()
	if r := s.w.open(); r != nil && len(r.staged) > 0 && s.chance("late", 60) {
		key, mode, name = r.key, "swap", ""
		if len(r.split) > 0 {
			mode = "batched"
		}
	}
	if mode != "" {
		s.setPublishMode(s.draw("controller", controllers), key, mode, name)
	}
}

func (s *sequence) setPublishMode(c int, key, mode, name string) {
	s.log("controller %d: set_publish_mode %s %s %s", c, key, mode, name)
	want := s.w.setPublishMode(key, mode, name)
	got, err := s.db.query(c, fmt.Sprintf("SELECT cs9.set_publish_mode('t', %s, %s, %s)", literal(key), literal(mode), orNull(name)))
	s.must(err)
	s.same(want, got)
}
