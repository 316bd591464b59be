package model

import (
	"fmt"
	"slices"
)

// row is a row of any of the tables; P is empty where there is no partition
// column, U is 0 for null. No two writes share a V, so that each row seen can
// be told from every other.
type row struct {
	K int
	P string
	U int
	V int
}

func (r row) key() string { return fmt.Sprintf("%d%s", r.K, r.P) }

// table is one of the fixed tables, in the order in which they are registered.
type table struct {
	name        string
	columns     []string
	leaves      []string
	partitioned bool
	mode        string // of its definition
}

var tables = []table{
	{"m.pairs", []string{"k", "u", "v"}, []string{"m.pairs"}, false, "batched"},
	{"m.parts", []string{"k", "p", "v"}, []string{"m.parts_a", "m.parts_b"}, true, "batched"},
	{"m.plain", []string{"k", "v"}, []string{"m.plain"}, false, "batched"},
	{"m.whole", []string{"k", "u", "v"}, []string{"m.whole_part"}, true, "swap_or_atomic"},
}

func tableOf(name string) table {
	return tables[slices.IndexFunc(tables, func(t table) bool { return t.name == name })]
}

// inLeaf says whether a row lies in a leaf relation.
func (r row) inLeaf(leaf string) bool { return r.P == "" || leaf == "m.parts_"+r.P }

// stagedRow is a row that a plan wrote; op is "i" or "u".
type stagedRow struct {
	row
	plan int
	op   string
}

type plan struct {
	state   string
	attempt int // 0: never begun
	rows    int // -1: not counted
	taking  int // how often it was begun
	taker   int // the worker that took it; gone: its session was killed since
}

const gone = -1

// run is what the model keeps of a run.
type run struct {
	id         int64
	key        string
	list       []int // the plan list: one argset a plan
	tables     []string
	state      string
	attempt    int
	current    bool
	today      string
	allowEmpty bool
	plans      []plan
	deletes    []deletion
	staged     map[string][]stagedRow // a table is there from its first use on
	rewritten  map[string]bool        // staged tables whose rows were moved in the middle of the publish
	modes      map[string]string      // how each table is published
	split      map[string]bool        // staged tables with a partition for each of the live table
	parts      map[string][]string    // those that are not swapped yet, by the live one
	old        map[string]int         // how many partitions wait to be dropped
	left       []leftover             // what could not be dropped when the run ended
	steps      []*step
	failed     bool // finish_run refused this attempt
}

// leftover is a staged table that outlived its run, with its parts.
type leftover struct {
	table string
	parts []string
}

func (r *run) unfinished() bool {
	return r.state == "running" || r.state == "ready" || r.state == "publishing"
}

// world is the model of a database with one task.
type world struct {
	live   map[string]map[string]row
	runs   []*run
	holder int // the controller that owns the task; -1: none

	// what the next call will meet
	lock *lock
	stop string

	stats map[string]int
}

func newWorld(stats map[string]int) *world {
	w := &world{live: map[string]map[string]row{}, holder: -1, stats: stats}
	for _, t := range tables {
		w.live[t.name] = map[string]row{}
	}
	return w
}

// open is the run that is not at its end, of which there is one at most.
func (w *world) open() *run {
	for _, r := range w.runs {
		if r.unfinished() {
			return r
		}
	}
	return nil
}

// find is the run that a key names: the current one, else the last.
func (w *world) find(key string) *run {
	var found *run
	for _, r := range w.runs {
		if r.key == key && (r.current || found == nil || !found.current) {
			found = r
		}
	}
	return found
}

func (w *world) claim(c int) bool {
	if w.holder >= 0 && w.holder != c {
		return false
	}
	w.holder = c
	return true
}

func (w *world) release(c int) {
	if w.holder == c {
		w.holder = -1
	}
}

// request is what begin_run is called with.
type request struct {
	key        string
	list       []int
	tables     []string
	today      string
	allowEmpty bool
	again      bool
	mode       string // empty: each table's own
}

// beginRun predicts the SQLSTATE, or the outcome and its run (P3, P7, P8, P9, P11).
func (w *world) beginRun(c int, q request) (state, outcome string, r *run) {
	before := w.holder
	if !w.claim(c) {
		return "S9001", "", nil
	}
	defer func() {
		if state != "" {
			w.holder = before // it is rolled back
		} else if outcome != "published" {
			w.dropLeftovers()
		}
	}()
	r = w.find(q.key)
	if r != nil && !r.current {
		r = nil
	}
	if r != nil && r.state == "published" && !q.again {
		w.release(c) // P11: a no-op, for the other runs of the task too
		return "", "published", r
	}
	older := w.open()
	if older != nil && older.key != q.key && older.state != "running" {
		return "", "publish_older", older
	}
	if r == nil || r.state == "published" {
		made := newRun(q)
		if q.mode != "" && made.modeRefused(q.mode, q.tables...) {
			return "S9016", "", nil
		}
		if older != nil && older.key != q.key {
			older.end("discarded")
		}
		if r != nil {
			r.current = false
		}
		w.runs = append(w.runs, made)
		made.modesAsked(q)
		return "", "new", made
	}
	if !slices.Equal(r.list, q.list) {
		return "S9008", "", nil
	}
	if !slices.Equal(r.tables, q.tables) {
		return "S9009", "", nil
	}
	if q.mode != "" && r.state != "publishing" && r.modeRefused(q.mode, r.tables...) {
		return "S9016", "", nil
	}
	r.attempt++
	r.failed = false
	if r.state == "publishing" {
		return "", "publish", r
	}
	r.allowEmpty = q.allowEmpty
	r.state = "running"
	r.modesAsked(q)
	return "", "resumed", r
}

// end takes away all that the run staged.
func (r *run) end(state string) {
	r.state = state
	r.current = state == "published"
	r.deletes = nil
	r.staged = map[string][]stagedRow{}
	r.parts = map[string][]string{}
	r.old = map[string]int{}
}

// dropLeftovers is done by whatever begins or ends a run.
func (w *world) dropLeftovers() {
	for _, r := range w.runs {
		r.left = nil
	}
}

// killed notes that a worker's session has gone: what it had taken can be taken.
func (w *world) killed(worker int) {
	for _, r := range w.runs {
		for i := range r.plans {
			if r.plans[i].taker == worker {
				r.plans[i].taker = gone
			}
		}
	}
}

func ended(state, otherwise string) string {
	switch state {
	case "published":
		return "S9004"
	case "discarded":
		return "S9005"
	}
	return otherwise
}

// fence is P8 for calls: the attempt must be the live one of a running run.
func (r *run) fence(attempt int) string {
	if r.state != "running" {
		return ended(r.state, "S9003")
	}
	if r.attempt != attempt {
		return "S9006"
	}
	return ""
}

// settled says whether a plan needs no more work in an attempt (P3).
func (r *run) settled(n, attempt int) bool {
	p := r.plans[n-1]
	return p.state == "done" && (p.attempt == attempt || (n != 1 && n != len(r.plans)))
}

// blocked says whether a plan, or the end of the run (0), has to wait.
func (r *run) blocked(n, attempt int) bool {
	for i := range r.plans {
		other := i + 1
		before := n == 0 || (n != 1 && (n == len(r.plans) && other < n || n != len(r.plans) && other == 1))
		if before && !r.settled(other, attempt) {
			return true
		}
	}
	return false
}

// beginPlan predicts the SQLSTATE, or whether the plan runs.
func (r *run) beginPlan(worker, n, attempt int) (state string, runs bool) {
	if state := r.fence(attempt); state != "" {
		return state, false
	}
	if n > len(r.plans) {
		return "S9016", false
	}
	p := &r.plans[n-1]
	if r.settled(n, attempt) {
		return "", false
	}
	if p.state == "running" && p.attempt == attempt && p.taker != gone {
		return "S9007", false
	}
	if r.blocked(n, attempt) {
		return "S9003", false
	}
	*p = plan{state: "running", attempt: attempt, rows: -1, taking: p.taking + 1, taker: worker}
	r.deletes = slices.DeleteFunc(r.deletes, func(d deletion) bool { return d.plan == n })
	for name, rows := range r.staged {
		r.staged[name] = slices.DeleteFunc(rows, func(s stagedRow) bool { return s.plan == n })
	}
	return "", true
}

// endPlan predicts finish_plan and fail_plan, in a session with these settings.
func (w *world) endPlan(x settings, r *run, n, attempt int, state string) string {
	if refusal := r.fence(attempt); refusal != "" {
		return refusal
	}
	p := &r.plans[n-1]
	if p.state != "running" || p.attempt != attempt {
		return "S9007"
	}
	switch names := x.run == r && x.plan == n; {
	case names && x.taking != p.taking:
		return "S9006"
	case !names && state == "done":
		return "S9007"
	}
	if n == 1 && state == "done" && w.earlyObstacle(r) {
		return "S9013"
	}
	p.state = state
	p.rows = -1
	if state == "done" {
		p.rows = 0
		for _, rows := range r.staged {
			for _, s := range rows {
				if s.plan == n {
					p.rows++
				}
			}
		}
	}
	return ""
}

// nextPlan predicts next_plan: both calls, or neither.
func (w *world) nextPlan(worker int, x settings, next int) (state string, runs bool) {
	r, n := x.run, x.plan
	before := r.plans[n-1]
	if refusal := w.endPlan(x, r, n, x.attempt, "done"); refusal != "" {
		return refusal, false
	}
	state, runs = r.beginPlan(worker, next, x.attempt)
	if state != "" {
		r.plans[n-1] = before
	}
	return state, runs
}

// settings are what a session says it writes for; a nil run: nothing.
type settings struct {
	run     *run
	plan    int
	attempt int
	taking  int
}

// guard is P8 for writes.
func (s settings) guard() string {
	if s.run == nil {
		return "S9007"
	}
	if refusal := s.run.fence(s.attempt); refusal != "" {
		return refusal
	}
	p := s.run.plans[s.plan-1]
	if p.state != "running" || p.attempt != s.attempt {
		return "S9007"
	}
	if p.taking != s.taking {
		return "S9006"
	}
	return ""
}

// use predicts staging_table, and that the table is there after it.
func (s settings) use(name string) string {
	if refusal := s.guard(); refusal != "" {
		return refusal
	}
	if !slices.Contains(s.run.tables, name) {
		return "S9009"
	}
	if _, made := s.run.staged[name]; !made {
		s.run.staged[name] = nil
		if leaves := tableOf(name).leaves; swaps(s.run.modes[name]) && len(leaves) > 1 {
			s.run.split[name] = true
			s.run.parts[name] = slices.Clone(leaves)
		}
	}
	return ""
}

// write predicts an INSERT into the run's own table.
func (s settings) write(name, op string, rows []row) string {
	if refusal := s.guard(); refusal != "" {
		return refusal
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.P == "z" }) {
		return "23514"
	}
	for _, r := range rows {
		s.run.staged[name] = append(s.run.staged[name], stagedRow{r, s.plan, op})
	}
	return ""
}

// drop predicts the recording of a delete.
func (s settings) drop(d deletion) string {
	if refusal := s.guard(); refusal != "" {
		return refusal
	}
	if !slices.Contains(s.run.tables, d.table) {
		return "S9009"
	}
	d.plan = s.plan
	s.run.deletes = append(s.run.deletes, d)
	return ""
}

// discard predicts discard_run.
func (w *world) discard(c int, key string, force bool) string {
	r := w.find(key)
	if r == nil {
		return "S9002"
	}
	if w.holder >= 0 && w.holder != c {
		return "S9001"
	}
	if !r.unfinished() || (r.state == "publishing" && !force) {
		return ended(r.state, "S9003")
	}
	r.end("discarded")
	w.dropLeftovers()
	w.release(c)
	return ""
}
