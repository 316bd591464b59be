package oracle

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// A drawer draws one part of a case. Each part has random numbers of its own,
// from the seed and the part's path, so that the others stay as they are when it
// is left out. This is why the cases shrink better than by rapid, which would
// draw everything behind a part anew, and prefers the start of a list.
type drawer struct {
	random *rand.Rand
	path   string
	shared *draft
}

// draft is what all drawers of a case share.
type draft struct {
	seed    uint64
	without map[string]bool // parts that are left out, by path
	options []string        // parts that could be left out, in the order in which they were drawn
	names   *namePool
	server  server
}

// server is what a case needs to know of the server.
type server struct {
	version    int
	extensions map[string]bool
}

func newDrawer(seed uint64, without map[string]bool, names *namePool, on server) *drawer {
	return (&drawer{shared: &draft{seed: seed, without: without, names: names, server: on}}).sub("case")
}

// sub returns the drawer of a part.
func (d *drawer) sub(label string, args ...any) *drawer {
	path := d.path + "/" + fmt.Sprintf(label, args...)
	h := fnv.New64a()
	h.Write([]byte(path)) //nolint:errcheck // it never fails
	return &drawer{random: rand.New(rand.NewPCG(d.shared.seed, h.Sum64())), path: path, shared: d.shared}
}

// option returns the drawer of a part that is there in so many of 100 cases, and
// whether it is.
func (d *drawer) option(percent int, label string, args ...any) (*drawer, bool) {
	s := d.sub(label, args...)
	if s.random.IntN(100) >= percent {
		return s, false
	}
	s.shared.options = append(s.shared.options, s.path)
	return s, !s.shared.without[s.path]
}

// some returns the drawers of between low and high parts, low of which cannot be left out.
func (d *drawer) some(low, high int, label string) []*drawer {
	var out []*drawer
	for i := range low + d.sub("how many %s", label).below(high-low+1) {
		s, there := d.option(100, "%s %d", label, i)
		if there || i < low {
			out = append(out, s)
		}
	}
	return out
}

func (d *drawer) below(n int) int         { return d.random.IntN(n) }
func (d *drawer) chance(percent int) bool { return d.random.IntN(100) < percent }
func pick[T any](d *drawer, list ...T) T  { return list[d.random.IntN(len(list))] }
func pickOf[T any](d *drawer, list []T) T { return list[d.random.IntN(len(list))] }

// weighted returns the index of one of the weights.
func (d *drawer) weighted(weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	n := d.random.IntN(total)
	return slices.IndexFunc(weights, func(w int) bool { n -= w; return n < 0 })
}
