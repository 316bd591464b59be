package crash_test

import (
	"context"
	"fmt"
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

// effort is which of the points are tried: one in every so many, per kind and
// what follows.
type effort map[string]map[string]int

var (
	everyPoint = effort{
		killProcess: {thenSame: 1, thenNew: 12, thenTwice: 12},
		killBackend: {thenSame: 1, thenNew: 12, thenTwice: 12},
		killOwner:   {thenSame: 3, thenNew: 24, thenTwice: 24},
		killServer:  {thenSame: 16, thenNew: 60, thenTwice: 60},
	}
	aSample = effort{
		killProcess: {thenSame: 100, thenNew: 200, thenTwice: 200},
		killBackend: {thenSame: 100, thenNew: 200, thenTwice: 200},
		killOwner:   {thenSame: 150},
		killServer:  {thenSame: 300},
	}
	kinds = []string{killProcess, killBackend, killOwner, killServer}
	thens = []string{thenSame, thenNew, thenTwice}
)

// TestCrashAtEveryPoint kills a run at points that are counted, not chosen:
// before each message that the runner sends, after each answer of the server,
// and at each notice of the publish, of which there is one after each commit.
// Whatever was killed there, the next start with the same key ends in the state
// that the same work in plain SQL has (P3, P7), with nothing left over; so does
// one with a new key, and one after a second kill.
func TestCrashAtEveryPoint(t *testing.T) {
	r := newRange(t)
	if text := os.Getenv(pointEnv); text != "" {
		r.repeat(t, text)
		return
	}
	tries := aSample
	r.onlyCommits = os.Getenv(allEnv) == "commits"
	if r.onlyCommits || os.Getenv(allEnv) == "all" {
		tries = everyPoint
	}
	var shared, crashing []shot
	for i := range scenarios {
		r.count(t, &scenarios[i])
		for _, s := range r.plan(&scenarios[i], tries, i) {
			if s.kind == killServer {
				crashing = append(crashing, s)
			} else {
				shared = append(shared, s)
			}
		}
	}
	r.startCrashing(t)
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
	steady, crashing *lab
	onlyCommits      bool
	points           map[*scenario][]crash.Point
	wanted           map[*scenario]wanted

	mu    sync.Mutex
	score map[string]*score
}

type score struct {
	points, kills, right int
	missed               int // the run ended before it came to the point
	found                map[string]int
	commits              map[string]bool // at which of its commits a publish was found
}

func newRange(t *testing.T) *shootingRange {
	t.Helper()
	return &shootingRange{
		steady: newLab(t, pgtest.Server(t)),
		points: map[*scenario][]crash.Point{}, wanted: map[*scenario]wanted{}, score: map[string]*score{},
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
	r.crashing = newLab(t, own)
}

func (r *shootingRange) labOf(s shot) *lab {
	if s.kind == killServer {
		return r.crashing
	}
	return r.steady
}

// count runs the scenario without a kill, to learn its points, and does its
// work in plain SQL.
func (r *shootingRange) count(t *testing.T, s *scenario) {
	t.Helper()
	ctx := t.Context()
	want, err := r.steady.wanted(ctx, s)
	must(t, err)
	r.wanted[s] = want
	points, err := r.steady.dryRun(ctx, s, want)
	if err != nil {
		t.Fatalf("%s, not killed: %v", s.name, err)
	}
	r.points[s] = points
}

// plan says which shots are fired at a scenario. The samples of the scenarios
// and kinds begin at different points, and are eight times as dense where the
// publish commits.
func (r *shootingRange) plan(s *scenario, tries effort, offset int) (shots []shot) {
	for _, kind := range kinds {
		for _, then := range thens {
			every, ok := tries[kind][then]
			if !ok {
				continue
			}
			offset += 7
			others, commits := offset, offset
			for i, p := range r.points[s] {
				if r.onlyCommits && !p.Commit || kind == killOwner && p.Conn == 1 {
					continue // the owner's own points are those of killBackend
				}
				place, stride := &others, every
				if p.Commit {
					place, stride = &commits, max(1, every/8)
				}
				if *place++; *place%stride != 0 {
					continue
				}
				one := shot{scenario: s, kind: kind, then: then, point: i + 1}
				if then == thenTwice {
					// what is left to do has at least about as many points as were not reached
					one.again = 1 + i*31%(len(r.points[s])-i+20)
				}
				shots = append(shots, one)
			}
		}
	}
	return shots
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
			for _, then := range thens {
				name := scenarios[i].name + "\t" + kind + "\t" + then
				c, ok := r.score[name]
				if !ok {
					continue
				}
				line(name, fmt.Sprint(len(r.points[&scenarios[i]])), c)
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
