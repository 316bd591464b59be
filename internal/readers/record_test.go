package readers_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// record is what a reader has seen in all its readings.
type record struct {
	group    group
	seen     map[class]int
	longest  time.Duration // of a reading, whatever it waited for
	lockWait time.Duration // the longest wait for a lock that was met by looking
}

// reading is one look at a table, or two.
type reading struct {
	reader string
	table  string
	group  group
	both   bool
	low    int // the generation that was known to be published before the snapshot
	target int // the generation that is published meanwhile
	codes  []int
	took   time.Duration
	err    error
}

// note classifies a reading, and fails the test when the mode does not promise it.
func (l *lab) note(r reading) class {
	c := classify(r.codes, r.low, r.target)
	switch {
	case r.err != nil:
		c = failed
	case r.both:
		c = classifyBoth(r.codes, r.low, r.target)
	case c == old && r.low == r.target:
		c = wrong
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	rec := l.recordOf(r.reader, r.group)
	rec.seen[c]++
	rec.longest = max(rec.longest, r.took)
	if !mayBeSeen(l.mode, r.group, c) {
		if l.bad++; l.bad <= 20 {
			l.Errorf("%s: %s of %s saw %q while generation %d was published (%d was known to be published before), after %s: %s; error: %v",
				l.mode, r.reader, r.table, c, r.target, r.low, r.took.Round(time.Microsecond), show(r.codes), r.err)
		}
	}
	return c
}

func (l *lab) recordOf(reader string, g group) *record {
	if l.records[reader] == nil {
		l.records[reader] = &record{group: g, seen: map[class]int{}}
	}
	return l.records[reader]
}

// noteWait records that a reader has waited for a lock.
func (l *lab) noteWait(pid uint32, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[l.pids[pid]]; r != nil {
		r.lockWait = max(r.lockWait, d)
	}
}

// inOrder are the readers, those that see the same together.
func (l *lab) inOrder() []string {
	return slices.SortedFunc(maps.Keys(l.records), func(a, b string) int {
		return cmp.Or(cmp.Compare(l.records[a].group, l.records[b].group), cmp.Compare(a, b))
	})
}

// inWords are the classes that a reader saw, in the order of their constants.
func (r *record) inWords() []class {
	return slices.DeleteFunc(slices.Clone(classes), func(c class) bool { return r.seen[c] == 0 })
}

// report writes down what each reader saw, how often, its longest reading, and
// the longest wait for a lock.
func (l *lab) report() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%-52s %9s %9s  %s\n", l.mode, "reader", "longest", "lock", "seen")
	for _, name := range l.inOrder() {
		r := l.records[name]
		var seen []string
		for _, c := range r.inWords() {
			seen = append(seen, fmt.Sprintf("%s %d", c, r.seen[c]))
		}
		fmt.Fprintf(&out, "%-52s %9s %9s  %s\n", name, r.longest.Round(100*time.Microsecond), r.lockWait.Round(100*time.Microsecond), strings.Join(seen, ", "))
	}
	return out.String()
}

// wantAllSeen checks that all that a mode promises to a group of readers was
// seen by one of them: the page warns of nothing that does not happen, and a
// test that sees no part where there are parts is blind.
func (l *lab) wantAllSeen() {
	l.Helper()
	for g := range groups {
		seen := map[class]bool{}
		for _, r := range l.records {
			for _, c := range r.inWords() {
				seen[c] = seen[c] || r.group == g
			}
		}
		for _, c := range promised[l.mode][g] {
			if !seen[c] {
				l.Errorf("%s: no reader of the group %q saw %q", l.mode, lines[g], c)
			}
		}
	}
}

// allHaveRead reports whether each of the readers has read, and one has seen the
// weakness of batched.
func (l *lab) allHaveRead(readers map[string][]string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range readers {
		if l.records[name] == nil {
			return false
		}
	}
	return l.mode != "batched" || l.partsSeen()
}

// wantPartsSeen fails when no reader saw the known weakness of batched: a test
// that is blind for it would be for that of the other modes too.
func (l *lab) wantPartsSeen() {
	l.Helper()
	if !l.partsSeen() {
		l.Errorf("%s: no reader saw a part, or an empty table", l.mode)
	}
}

func (l *lab) partsSeen() bool {
	for _, r := range l.records {
		if r.seen[part] > 0 || r.seen[empty] > 0 {
			return true
		}
	}
	return false
}
