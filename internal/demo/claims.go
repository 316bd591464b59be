package demo

import (
	"fmt"
	"slices"

	"github.com/cs9gen/cs9gen/runner"
)

// Claim is one promise, and whether what was seen keeps it.
type Claim struct {
	Scenario string `json:"scenario"`
	Text     string `json:"claim"`
	OK       bool   `json:"ok"`
	Saw      string `json:"saw,omitempty"` // what was seen instead
}

// claim is a promise and its check, which returns what was seen instead, or "".
type claim struct {
	scenario, text string
	check          func(evidence) string
}

var newWeeks = []int{1, 2, 3}

var claims = []claim{
	{"A", "while the plans ran, readers saw the 5 old rows", evidence.oldRowsAllAlong},
	{"A", "each plan staged one row more", evidence.oneMoreAPlan},
	{"A", "then readers see the 3 new rows, each once, and nothing stays staged", evidence.newRowsAtTheEnd},

	{"B", "plan 3 failed, and readers still see the 5 old rows", func(e evidence) string { return first(e.outcomes(string(failed)), e.oldRowsAllAlong()) }},
	{"B", "what plans 1 and 2 staged is kept", func(e evidence) string { return e.staged(e.last(), 1, 2) }},

	{"C", "the retry found plan 2's row staged", func(e evidence) string { return e.staged(e.at(begun, 0), 1, 2) }},
	{"C", "it ran plans 1 and 3, and skipped plan 2", func(e evidence) string { return e.plans(0, []int{1, 3}, []int{2}) }},
	{"C", "until it was published, readers saw the 5 old rows", evidence.oldRowsAllAlong},
	{"C", "then readers see the 3 new rows, each once", func(e evidence) string { return first(e.outcomes(string(runner.Published)), e.newRowsAtTheEnd()) }},

	{"D", "until the publish began, readers saw the 5 old rows", evidence.oldRowsAllAlong},
	{"D", "a batched publish that is killed leaves a part live: the 1 new row of its first batch", evidence.aPartIsLive},
	{"D", "the next attempt ran no plan", evidence.noPlanRan},
	{"D", "it published the rest: readers see the 3 new rows, each once", evidence.newRowsAtTheEnd},
}

// check holds the claims against what was seen.
func check(steps []Step, attempts []Attempt) []Claim {
	checked := make([]Claim, len(claims))
	for i, c := range claims {
		var e evidence
		for _, s := range steps {
			if s.Scenario == c.scenario {
				e.steps = append(e.steps, s)
			}
		}
		for _, a := range attempts {
			if a.Scenario == c.scenario {
				e.attempts = append(e.attempts, a)
			}
		}
		saw := c.check(e)
		checked[i] = Claim{Scenario: c.scenario, Text: c.text, OK: saw == "", Saw: saw}
	}
	return checked
}

// evidence is what was seen of one scenario. Its methods return what was seen
// instead of what was expected, or "".
type evidence struct {
	steps    []Step
	attempts []Attempt
}

// oldRowsAllAlong: from the beginning of the run to the end of its last plan, or
// to its failure, readers saw the old rows and nothing else.
func (e evidence) oldRowsAllAlong() string {
	looks := 0
	for _, s := range e.steps {
		switch s.Moment {
		case begun, planDone, planSkipped, planFailed, failed:
			looks++
			if s.Old != oldRows || len(s.New) > 0 {
				return fmt.Sprintf("at %q they saw %s", s.name(" "), s.sees())
			}
		}
	}
	if looks < 1+weeks {
		return fmt.Sprintf("nobody looked often enough: %d times", looks)
	}
	return ""
}

// newRowsAtTheEnd: after all, readers see the new rows, each once.
func (e evidence) newRowsAtTheEnd() string {
	s := e.last()
	if s == nil {
		return "nobody looked"
	}
	if (s.Moment != published && s.Moment != resumed) || s.Old != 0 || !slices.Equal(s.New, newWeeks) {
		return fmt.Sprintf("at %q they saw %s, of the weeks %v", s.name(" "), s.sees(), s.New)
	}
	return e.staged(s)
}

// oneMoreAPlan: nothing was staged at the beginning, and one row more after each plan.
func (e evidence) oneMoreAPlan() string {
	saw := e.staged(e.at(begun, 0))
	for plan := 1; plan <= weeks && saw == ""; plan++ {
		saw = e.staged(e.at(planDone, plan), newWeeks[:plan]...)
	}
	return saw
}

// staged: at the step exactly the rows of these weeks are staged.
func (e evidence) staged(s *Step, want ...int) string {
	if s == nil {
		return "nobody looked"
	}
	if !slices.Equal(s.Staged, want) {
		return fmt.Sprintf("at %q the weeks %v were staged", s.name(" "), s.Staged)
	}
	return ""
}

// aPartIsLive: after the kill readers see the first batch alone.
func (e evidence) aPartIsLive() string {
	s := e.at(stopped, 0)
	if s == nil {
		return "nobody looked"
	}
	if s.Old != 0 || !slices.Equal(s.New, newWeeks[:1]) {
		return "they saw " + s.sees()
	}
	return ""
}

// noPlanRan: the second attempt published the rest, and did nothing else.
func (e evidence) noPlanRan() string {
	return first(e.outcomes(string(stopped), string(runner.PublishedRest)), e.plans(1, nil, nil))
}

// plans: the attempt ran these plans and skipped those.
func (e evidence) plans(attempt int, run, skipped []int) string {
	if attempt >= len(e.attempts) {
		return fmt.Sprintf("there were %d attempts", len(e.attempts))
	}
	a := e.attempts[attempt]
	if !slices.Equal(a.Run, run) || !slices.Equal(a.Skipped, skipped) {
		return fmt.Sprintf("it ran plans %v and skipped %v", a.Run, a.Skipped)
	}
	return ""
}

// outcomes: so the attempts ended.
func (e evidence) outcomes(want ...string) string {
	var outcomes []string
	for _, a := range e.attempts {
		outcomes = append(outcomes, a.Outcome)
	}
	if !slices.Equal(outcomes, want) {
		return fmt.Sprintf("the attempts ended %q", outcomes)
	}
	return ""
}

func (e evidence) at(at moment, plan int) *Step {
	for i := range e.steps {
		if e.steps[i].Moment == at && e.steps[i].Plan == plan {
			return &e.steps[i]
		}
	}
	return nil
}

func (e evidence) last() *Step {
	if len(e.steps) == 0 {
		return nil
	}
	return &e.steps[len(e.steps)-1]
}

func first(saw ...string) string {
	for _, s := range saw {
		if s != "" {
			return s
		}
	}
	return ""
}
