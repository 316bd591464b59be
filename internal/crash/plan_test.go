package crash_test

import (
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/internal/crash"
)

// effort is which of the points are tried: one in every so many of those on the
// wire, per kind and what follows, but only one in early of those before the
// publish; and of the statements inside the publish, per kind.
type effort struct {
	wire   map[string]map[string]int
	inside map[string]int
	early  int
}

var (
	everyPoint = effort{
		wire: map[string]map[string]int{
			killProcess: {thenSame: 1, thenNew: 12, thenTwice: 12},
			killBackend: {thenSame: 1, thenNew: 12, thenTwice: 12},
			killOwner:   {thenSame: 3, thenNew: 24, thenTwice: 24},
			killServer:  {thenSame: 16, thenNew: 60, thenTwice: 60},
		},
		inside: map[string]int{killProcess: 8, killBackend: 1, killServer: 30},
		early:  1,
	}
	aSample = effort{
		wire: map[string]map[string]int{
			killProcess: {thenSame: 500, thenNew: 1200, thenTwice: 1200},
			killBackend: {thenSame: 500, thenNew: 1200, thenTwice: 1200},
			killOwner:   {thenSame: 600},
			killServer:  {thenSame: 1600},
		},
		early: 1,
	}
	aSampleOfModes = effort{
		wire: map[string]map[string]int{
			killProcess: {thenSame: 120, thenNew: 280, thenTwice: 280},
			killBackend: {thenSame: 100, thenNew: 280, thenTwice: 280},
			killOwner:   {thenSame: 80},
			killServer:  {thenSame: 400},
		},
		inside: map[string]int{killProcess: 300, killBackend: 80, killServer: 600},
		early:  3,
	}
)

// effort says how many of the points of a scenario are tried. The plans of a run
// are the same in each mode: their points are tried with the batched ones, whose
// publish commits after each of its steps.
func (r *shootingRange) effort(s *scenario) effort {
	modes := slices.ContainsFunc(otherModes, func(o scenario) bool { return o.name == s.name })
	switch {
	case !r.all && modes:
		return aSampleOfModes
	case !r.all:
		return aSample
	}
	every := everyPoint
	if modes {
		every.early = 6
	} else {
		every.inside = map[string]int{killProcess: 24, killBackend: 3, killServer: 90}
	}
	return every
}

// plan says which shots are fired at a scenario. The samples of the scenarios
// and kinds begin at different points, and are eight times as dense where the
// publish commits.
func (r *shootingRange) plan(s *scenario, offset int) (shots []shot) {
	tries, publish := r.effort(s), r.publishOf(s)
	for _, kind := range kinds {
		for _, then := range thens {
			every, ok := tries.wire[kind][then]
			if !ok {
				continue
			}
			offset += 7
			places := map[int]int{} // of each stride
			for i, p := range r.points[s] {
				if r.onlyCommits && !p.Commit || kind == killOwner && p.Conn == 1 {
					continue // the owner's own points are those of killBackend
				}
				stride := every
				if p.Commit {
					stride = max(1, every/8)
				} else if i < publish {
					stride = every * tries.early
				}
				if places[stride]++; (places[stride]+offset)%stride != 0 {
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

// publishOf is the index of the first point of the publish.
func (r *shootingRange) publishOf(s *scenario) int {
	return slices.IndexFunc(r.points[s], func(p crash.Point) bool { return strings.Contains(p.What, "CALL cs9.publish") })
}

// planInside says which shots are fired inside the statements of a publish.
func (r *shootingRange) planInside(s *scenario, offset int) (shots []shot) {
	for i, kind := range kinds {
		every, ok := r.effort(s).inside[kind]
		if !ok || r.onlyCommits {
			continue
		}
		for point := 1; point <= r.inside[s]; point++ {
			if (point+offset*7+i*3)%every == 0 {
				shots = append(shots, shot{scenario: s, kind: kind, then: thenSame, point: point, inside: true})
			}
		}
	}
	return shots
}
