package readers_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.Main(m, pgtest.NoGoroutineLeft)
}

// How many publishes of each mode are watched: usually, and where the page that
// says what was seen is held to it (make readers).
const (
	usual = 8
	full  = 200
)

// publishes is how many publishes of each mode are watched;
// CS9GEN_READERS_PUBLISHES says another number.
func publishes(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CS9GEN_READERS_PUBLISHES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CS9GEN_READERS_PUBLISHES is %q; give a number from 1 on", text)
	}
	return n
}

func TestP12ReadersSeeWhatTheModePromises(t *testing.T) {
	n := publishes(t)
	labs := map[string]*lab{}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			l := newLab(t, mode)
			l.watchPublishes(n)
			t.Log(l.report())
			if !*update {
				l.comparePage()
			}
			labs[mode] = l
		})
	}
	if *update && len(labs) == len(modes) && n >= full && !t.Failed() {
		writeSection(t, "measured", measuredTable(labs))
	}
}

// watchPublishes stages and publishes one generation after the other: n, and
// more on a busy machine, until each reader of the page has read.
func (l *lab) watchPublishes(n int) {
	l.Helper()
	watch := l.newWatch()
	said := measuredOnPage(l.T)[l.mode]
	for gen := 1; gen <= n || gen <= 8*n && !l.allHaveRead(said); gen++ {
		watch.one(gen)
	}
	watch.wantWaits()
	switch {
	case n >= full:
		l.wantAllSeen()
	case n >= usual && l.mode == "batched":
		l.wantPartsSeen()
	}
}
