package crash_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/cs9gen/cs9gen/internal/crash"
	"github.com/cs9gen/cs9gen/internal/pgserver"
	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// CS9GEN_CRASH=all kills at every point, and CS9GEN_CRASH=commits at every one
// where a publish has committed; else a spread sample of them is tried.
// CS9GEN_CRASH_POINT repeats one point alone, as a failure names it.
const (
	allEnv   = "CS9GEN_CRASH"
	pointEnv = "CS9GEN_CRASH_POINT"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(victimEnv); text != "" {
		if err := beVictim(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	pgtest.Main(m)
}

var (
	kinds = []string{killProcess, killBackend, killOwner, killServer}
	thens = []string{thenSame, thenNew, thenTwice}
)

// TestCrashAtEveryPoint kills a run at points that are counted, not chosen:
// before each message that the runner sends, after each answer of the server,
// at each notice of the publish, of which there is one after each commit, and
// before each statement that a publish does inside the server.
// Whatever was killed there, the next start with the same key ends in the state
// that the same work in plain SQL has (P3, P7), with nothing left over; so does
// one with a new key, and one after a second kill.
func TestCrashAtEveryPoint(t *testing.T) {
	r := newRange(t)
	if text := os.Getenv(pointEnv); text != "" {
		r.repeat(t, text)
		return
	}
	r.onlyCommits = os.Getenv(allEnv) == "commits"
	r.all = r.onlyCommits || os.Getenv(allEnv) == "all"
	var shared, crashing []shot
	for i := range scenarios {
		r.count(t, &scenarios[i])
		for _, s := range append(r.plan(&scenarios[i], i), r.planInside(&scenarios[i], i)...) {
			if s.kind == killServer {
				crashing = append(crashing, s)
			} else {
				shared = append(shared, s)
			}
		}
	}
	r.startCrashing(t)
	t.Logf("%d shots, and %d at a server", len(shared), len(crashing))
	began := time.Now()
	var both sync.WaitGroup
	both.Go(func() { r.fireAll(t, shared, 4) })
	both.Go(func() { r.fireAll(t, crashing, 1) }) // each takes the whole server
	both.Wait()
	r.report(t, time.Since(began))
}

// repeat fires the one shot that the text names.
func (r *shootingRange) repeat(t *testing.T, text string) {
	t.Helper()
	s, err := parseShot(text)
	must(t, err)
	if s.kind == killServer {
		r.startCrashing(t)
	}
	r.count(t, s.scenario)
	h := r.labOf(s).fire(t.Context(), s, r.wanted[s.scenario])
	t.Logf("killed at %v; the run was %s", h.kills, h.found)
	must(t, h.err)
}

// shootingRange is where the shots are fired, and their score.
type shootingRange struct {
	steady, crashing labs
	all, onlyCommits bool
	points           map[*scenario][]crash.Point
	inside           map[*scenario]int // how many statements the publish has
	wanted           map[*scenario]wanted

	mu    sync.Mutex
	score map[string]*score
}

// labs are those of one server.
type labs struct{ wire, inside *lab }

type score struct {
	points, kills, right int
	missed               int // the run ended before it came to the point
	found                map[string]int
	commits              map[string]bool // at which of its commits a publish was found
}

func newRange(t *testing.T) *shootingRange {
	t.Helper()
	return &shootingRange{
		steady: newLabs(t, pgtest.Server(t)),
		points: map[*scenario][]crash.Point{}, inside: map[*scenario]int{}, wanted: map[*scenario]wanted{}, score: map[string]*score{},
	}
}

// startCrashing starts the server that is made to crash.
func (r *shootingRange) startCrashing(t *testing.T) {
	t.Helper()
	// what a client saw committed must be there after the server's end
	own, err := pgserver.Start(t.Context(), &pgserver.Config{Settings: map[string]string{"synchronous_commit": "on"}})
	must(t, err)
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	r.crashing = newLabs(t, own)
}

func newLabs(t *testing.T, server *pgserver.Server) labs {
	t.Helper()
	return labs{newLab(t, server, false), newLab(t, server, true)}
}

func (r *shootingRange) labOf(s shot) *lab {
	of := r.steady
	if s.kind == killServer {
		of = r.crashing
	}
	if s.inside {
		return of.inside
	}
	return of.wire
}

// count runs the scenario without a kill, to learn its points, and does its
// work in plain SQL.
func (r *shootingRange) count(t *testing.T, s *scenario) {
	t.Helper()
	ctx := t.Context()
	want, err := r.steady.wire.wanted(ctx, s)
	must(t, err)
	r.wanted[s] = want
	for tries := 0; tries == 0 || tries < 5 && sessions(r.points[s]) < s.movers; tries++ {
		if r.points[s], err = r.steady.wire.dryRun(ctx, s, want); err != nil {
			t.Fatalf("%s, not killed: %v", s.name, err)
		}
	}
	if n := sessions(r.points[s]); n < s.movers {
		t.Fatalf("%s: only %d sessions moved rows", s.name, n)
	}
	if r.effort(s).inside == nil {
		return
	}
	if r.inside[s], err = r.steady.inside.countInside(ctx, s, want); err != nil {
		t.Fatalf("%s, not killed: %v", s.name, err)
	}
}

// sessions is how many connections a publish committed on.
func sessions(points []crash.Point) int {
	of := map[int]bool{}
	for _, p := range points {
		of[p.Conn] = of[p.Conn] || p.Commit
	}
	maps.DeleteFunc(of, func(_ int, commits bool) bool { return !commits })
	return len(of)
}

func (r *shootingRange) fireAll(t *testing.T, shots []shot, at int) {
	queue := make(chan shot)
	var workers sync.WaitGroup
	for range at {
		workers.Go(func() {
			for s := range queue {
				h := r.labOf(s).fire(t.Context(), s, r.wanted[s.scenario])
				r.note(s, h)
				if h.err != nil {
					t.Errorf("%v\nkilled at %v\nrepeat it: %s='%v' go test -run TestCrashAtEveryPoint ./internal/crash", h.err, h.kills, pointEnv, s)
				}
			}
		})
	}
	for i, s := range shots {
		if i%500 == 499 {
			t.Logf("%d of %d", i+1, len(shots))
		}
		queue <- s
	}
	close(queue)
	workers.Wait()
}

func (r *shootingRange) note(s shot, h hit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := s.scenario.name + "\t" + s.kind + "\t" + s.then
	if s.inside {
		row = s.scenario.name + "\t" + s.kind + "\t" + inside
	}
	c := r.score[row]
	if c == nil {
		c = newScore()
		r.score[row] = c
	}
	want := 1
	if s.then == thenTwice {
		want = 2
	}
	c.points++
	c.kills += len(h.kills)
	c.missed += want - len(h.kills)
	c.found[h.found]++
	if h.found == "publishing" {
		c.commits[s.scenario.name+h.commit] = true
	}
	if h.err == nil {
		c.right++
	}
}

var states = []string{"none", "running", "ready", "publishing", "published"}

// report prints what was killed, what state the kill left the run in, and how
// many starts after it came to the right end.
func (r *shootingRange) report(t *testing.T, took time.Duration) {
	t.Helper()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "scenario\tkilled\tthen\tof points\ttried\tkills\tnot reached\tleft it %s\tat commits\tright\n", strings.Join(states, "\t"))
	total := newScore()
	byKind := map[string]int{}
	line := func(name string, of string, c *score) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d", name, of, c.points, c.kills, c.missed)
		for _, state := range states {
			fmt.Fprintf(w, "\t%d", c.found[state])
		}
		fmt.Fprintf(w, "\t%d\t%d\n", len(c.commits), c.right)
	}
	for i := range scenarios {
		for _, kind := range kinds {
			for _, then := range append(thens, inside) {
				name := scenarios[i].name + "\t" + kind + "\t" + then
				c, ok := r.score[name]
				if !ok {
					continue
				}
				of := len(r.points[&scenarios[i]])
				if then == inside {
					of = r.inside[&scenarios[i]]
				}
				line(name, fmt.Sprint(of), c)
				byKind[kind] += c.kills
				total.add(c)
			}
		}
	}
	line("all\t\t", "", total)
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
	t.Logf("killed the process %d times, its backend %d, the owner's backend %d, the server %d; %d of %d starts came to the right end, in %s\n%s",
		byKind[killProcess], byKind[killBackend], byKind[killOwner], byKind[killServer], total.right, total.points, took.Round(time.Second), &text)
	if total.missed*10 > total.points {
		t.Errorf("%d of %d shots did not kill: the points that were counted are not those of the runs", total.missed, total.points)
	}
	if os.Getenv(allEnv) != "all" {
		return
	}
	if total.kills < atLeast {
		t.Errorf("%d kills are fewer than %d", total.kills, atLeast)
	}
	for _, state := range states {
		if total.found[state] == 0 {
			t.Errorf("no kill left a run %s: the points do not cover the run", state)
		}
	}
}

// inside is what the report calls the shots inside the statements of a publish,
// which the same key follows.
const inside = "inside a publish"

// atLeast is how many kills the full test promises.
const atLeast = 500

func newScore() *score { return &score{found: map[string]int{}, commits: map[string]bool{}} }

func (c *score) add(other *score) {
	c.points += other.points
	c.kills += other.kills
	c.right += other.right
	c.missed += other.missed
	for state, n := range other.found {
		c.found[state] += n
	}
	for commit := range other.commits {
		c.commits[commit] = true
	}
}

// dryRun runs the scenario through a proxy that only counts.
func (l *lab) dryRun(ctx context.Context, s *scenario, want wanted) (points []crash.Point, err error) {
	err = l.inClone(ctx, func(database string) error {
		h := &hit{}
		r, err := l.run(ctx, shot{scenario: s, kind: killBackend, then: thenSame}, "first", database, 0, h)
		if err != nil {
			return err
		}
		points = r.points
		return l.finish(ctx, shot{scenario: s, then: thenSame}, want, database, h)
	})
	return points, err
}
