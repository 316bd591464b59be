package model

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// known is what a controller, which may have fallen behind, thinks it does.
type known struct {
	run       *run
	attempt   int
	publishes *run
	table     string
}

// sequence makes each call twice: in the database and in the model.
type sequence struct {
	*rapid.T
	db    *database
	w     *world
	known [controllers]known
	set   [workers]settings
	base  []int
	names []string
	calls []string
	next  int // the value of the next row
	stats map[string]int
	ends  bool // nothing is in the way any more
}

// actions are drawn from, a name as often as its weight.
var actions = func() (names []string) {
	for _, a := range []struct {
		name   string
		weight int
	}{
		{"drive", 22}, {"begin run", 2}, {"kill controller", 2}, {"kill worker", 1}, {"write", 3}, {"begin plan", 2}, {"end plan", 2}, {"next plan", 2},
		{"finish run", 1}, {"begin publish", 1}, {"publish next", 2}, {"call publish", 1}, {"discard", 1}, {"end attempt", 1}, {"live", 1}, {"mode", 1},
		{"rewrite", 1},
	} {
		names = append(names, slices.Repeat([]string{a.name}, a.weight)...)
	}
	return names
}()

// property is one sequence; rapid makes it shorter when it fails.
func property(db *database, stats map[string]int) func(*rapid.T) {
	return func(t *rapid.T) {
		s := &sequence{T: t, db: db, w: newWorld(stats), stats: stats}
		s.must(db.reset())
		stats["sequences"]++
		defer func() { s.must(s.db.unlock()) }()
		first := s.draw("table", len(tables))
		s.names = []string{tables[first].name}
		if second := s.draw("second table", len(tables)); second != first {
			s.names = append(s.names, tables[second].name)
			slices.Sort(s.names)
		}
		s.base = make([]int, 1+s.draw("plans", 5))
		for range s.draw("live rows", 6) {
			s.insertLive(rapid.SampledFrom(tables).Draw(s.T, "table"))
		}
		t.Repeat(map[string]func(*rapid.T){"step": func(*rapid.T) { s.step() }})
		s.end()
	}
}

func (s *sequence) step() {
	switch rapid.SampledFrom(actions).Draw(s.T, "action") {
	case "drive":
		s.drive()
	case "begin run":
		s.beginRun(s.draw("controller", controllers), s.request())
	case "kill controller":
		c := s.draw("controller", controllers)
		if s.w.holder >= 0 && s.chance("the owner", 80) {
			c = s.w.holder
		}
		s.killController(c)
	case "kill worker":
		n := s.draw("worker", workers)
		s.log("kill worker %d", n)
		s.must(s.db.kill(controllers + n))
		s.w.killed(n)
		s.set[n] = settings{}
	case "write":
		s.write(s.leftBehind())
	case "begin plan":
		if k := s.known[s.draw("controller", controllers)]; k.run != nil {
			s.beginPlan(s.draw("worker", workers), k.run, 1+s.draw("plan", len(k.run.plans)+1), k.attempt)
		}
	case "end plan":
		s.endPlan(s.leftBehind(), s.chance("it failed", 40))
	case "next plan":
		if n := s.leftBehind(); s.set[n].run != nil {
			s.nextPlan(n, 1+s.draw("plan", len(s.set[n].run.plans)+1))
		}
	case "finish run":
		if c := s.draw("controller", controllers); s.known[c].run != nil {
			s.finishRun(c)
		}
	case "begin publish":
		s.beginPublish(s.draw("controller", controllers), s.key(), s.oneTable())
	case "publish next":
		s.publishNext(s.draw("controller", controllers))
	case "call publish":
		s.callPublish(s.draw("controller", controllers), s.key(), s.oneTable())
	case "discard":
		s.discard(s.draw("controller", controllers), s.key(), s.chance("force", 30))
	case "end attempt":
		s.endAttempt(s.draw("controller", controllers))
	case "live":
		s.changeLive()
	case "mode":
		s.changeMode()
	case "rewrite":
		s.rewrite()
	}
}

// leftBehind is a worker, most of the time one whose attempt is over.
func (s *sequence) leftBehind() int {
	n := s.draw("worker", workers)
	for other, x := range s.set {
		if x.run != nil && (x.attempt != x.run.attempt || x.run.state != "running") && s.chance("left behind", 80) {
			n = other
		}
	}
	return n
}

// drive does what a runner would do next.
func (s *sequence) drive() {
	r, c := s.w.open(), max(s.w.holder, 0)
	k := s.known[c]
	switch {
	case r == nil, s.w.holder < 0, k.run != r && r.state != "publishing", r.failed, r.state == "running" && k.attempt != r.attempt:
		s.drivenBegin(c, r)
	case r.state == "running":
		s.drivePlan(c, r)
	case s.w.doomed(r) && s.chance("give up", 60):
		s.discard(c, r.key, true)
	case r.state == "ready" && s.chance("collide", 40):
		s.collide(c, r)
	case s.chance("CALL", 50):
		s.callPublish(c, r.key, "")
	case r.state == "ready" || k.publishes != r:
		s.beginPublish(c, r.key, "")
	case s.chance("collide", 30) && s.collideApart(c, r):
	default:
		s.publishNext(c)
		switch {
		case s.chance("crash", 12):
			s.killController(c)
		case s.chance("rewrite", 5):
			s.rewrite()
		case s.chance("live", 10):
			s.changeLive()
		}
	}
}

func (s *sequence) drivenBegin(c int, r *run) {
	q := s.request()
	switch {
	case r == nil:
	case r.failed && s.chance("give up", 50):
		s.discard(c, r.key, false)
		return
	case s.chance("the same key", 85):
		q.key, q.list, q.tables = r.key, r.list, r.tables
	}
	s.beginRun(c, q)
}

// drivePlan runs the next plan that is not settled, or finishes the run.
func (s *sequence) drivePlan(c int, r *run) {
	next := 1 + slices.IndexFunc(r.plans, func(p plan) bool { return p.state != "done" || p.attempt != r.attempt })
	for next > 0 && r.settled(next, r.attempt) && s.chance("pass over", 70) {
		at := slices.IndexFunc(r.plans[next:], func(p plan) bool { return p.state != "done" || p.attempt != r.attempt })
		next = max(0, (next+1+at)*min(1, at+1))
	}
	if next == 0 {
		s.finishRun(c)
		return
	}
	if p := r.plans[next-1]; p.state == "running" && p.attempt == r.attempt {
		n := slices.IndexFunc(s.set[:], func(x settings) bool { return x == settings{r, next, r.attempt, p.taking} })
		if n < 0 { // its session was killed
			n = s.draw("worker", workers)
			if s.chance("take it", 60) {
				s.beginPlan(n, r, next, r.attempt)
				return
			}
			s.end1(n, r, next, r.attempt, true)
			return
		}
		if next == 1 && s.w.earlyObstacle(r) && s.chance("mend", 90) {
			s.mendSwap(n, r)
			return
		}
		s.endPlan(n, false)
		return
	}
	n := s.draw("worker", workers)
	if s.set[n].run != nil && s.chance("the other worker", 90) {
		n = 1 - n
	}
	if !s.beginPlan(n, r, next, r.attempt) {
		return
	}
	for _, name := range r.tables {
		if next == 1 && swaps(r.modes[name]) && s.chance("empties", 70) {
			s.stageDelete(n, deletion{table: name, kind: "all"})
		}
	}
	for range s.draw("writes", 4) {
		s.write(n)
	}
	if s.chance("crash", 12) { // the worker lives on and writes for the attempt that was
		s.killController(c)
		return
	}
	switch {
	case !s.chance("it ends", 90):
	case next < len(r.plans) && s.chance("and the next one begins", 50):
		if s.nextPlan(n, next+1) {
			s.write(n)
		}
	default:
		s.endPlan(n, s.chance("it failed", 6))
	}
}

// mendSwap does something about a plan 1 that deletes nothing of a table that is
// to be swapped.
func (s *sequence) mendSwap(n int, r *run) {
	switch {
	case s.chance("atomic", 40):
		s.setPublishMode(s.draw("controller", controllers), r.key, "atomic", "")
	case s.chance("it fails", 20):
		s.endPlan(n, true)
	default:
		for _, name := range r.tables {
			if r.modes[name] == "swap" {
				s.stageDelete(n, deletion{table: name, kind: "all"})
			}
		}
	}
}

// end brings the sequence to an end and looks that nothing is left over.
func (s *sequence) end() {
	s.ends = true
	c := max(s.w.holder, 0)
	switch r := s.w.open(); {
	case r == nil:
	case r.state == "publishing" && !s.w.doomed(r):
		s.beginRun(c, request{key: r.key, list: r.list, tables: r.tables, today: "2024-01-31"})
		s.callPublish(c, r.key, "")
	default:
		s.discard(c, r.key, s.w.doomed(r))
	}
	if s.w.holder >= 0 {
		s.endAttempt(s.w.holder)
	}
	_, err := s.db.observer.Exec(context.Background(), "SELECT cs9.drop_leftovers()")
	s.must(err)
	var left int
	s.must(s.db.observer.QueryRow(context.Background(), `
		SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'cs9_staging'::regnamespace)
		     + (SELECT count(*) FROM cs9.staged_delete)
		     + (SELECT count(*) FROM cs9.task WHERE cs9.task_owner(task_id) IS NOT NULL)
		     + (SELECT count(*) FROM cs9.run WHERE state NOT IN ('published', 'discarded'))`).Scan(&left))
	if left != 0 {
		s.differ("left over", 0, left)
	}
}

func (s *sequence) draw(label string, n int) int {
	return rapid.IntRange(0, n-1).Draw(s.T, label)
}

// chance is false in the simplest sequence.
func (s *sequence) chance(label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(s.T, label) >= 100-percent
}

func (s *sequence) must(err error) {
	if err != nil {
		s.Fatalf("%v\nafter\n%s", err, strings.Join(s.calls, "\n"))
	}
}

func (s *sequence) log(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *sequence) differ(what string, want, got any) {
	s.Fatalf("%s: the database says %v, the model %v; after\n%s", what, got, want, strings.Join(s.calls, "\n"))
}

// same compares the SQLSTATE of a call, and after it all that can be seen.
func (s *sequence) same(want, got string) {
	if want != got {
		s.differ("SQLSTATE", want, got)
	}
	if got == "" {
		got = "ok"
	}
	s.stats["calls"]++
	s.stats[got]++
	lines, err := s.db.look(s.w)
	s.must(err)
	if expected := s.db.expect(s.w); !slices.Equal(expected, lines) {
		s.Fatalf("what can be seen (- model, + database):\n%s\nafter\n%s", cmp.Diff(expected, lines), strings.Join(s.calls, "\n"))
	}
}
