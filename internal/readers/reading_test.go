package readers_test

import (
	"fmt"
	"slices"
	"strings"
)

// class is what a reader saw of a table, or of two.
type class string

const (
	old    class = "old"    // the complete generation before the one that is published
	fresh  class = "new"    // the complete generation that is published
	empty  class = "empty"  // no row
	part   class = "a part" // rows of one generation, not all
	mix    class = "a mix"  // rows of two generations in one table
	apart  class = "apart"  // two tables that do not agree
	wrong  class = "wrong"  // a row that no generation has, a row twice, a generation too old or too new
	failed class = "failed" // an error
)

// classes are all of them, in the order in which a publish shows them.
var classes = []class{old, empty, part, mix, apart, fresh, wrong, failed}

const (
	generationRows = 24
	otherTable     = 1_000_000_000 // added to the codes of the second table of two
)

// firstKey is the lowest key of a generation; its keys are firstKey and the 23 after it.
func firstKey(gen int) int { return 1 + gen%5 }

// belongs says whether a row is one of its generation; code is as readers.sql makes it.
func belongs(code int) bool {
	gen, k, north := code/1000, code%1000/2, code%2
	return k >= firstKey(gen) && k < firstKey(gen)+generationRows && k%2 == north
}

// classify says what the rows of one table are. Generation target is being
// published, or was a moment ago; the reader's snapshot was taken when
// generation low was known to be published.
func classify(codes []int, low, target int) class {
	if len(codes) == 0 {
		return empty
	}
	sorted := slices.Sorted(slices.Values(codes))
	if len(slices.Compact(slices.Clone(sorted))) != len(sorted) {
		return wrong
	}
	for _, code := range sorted {
		if gen := code / 1000; !belongs(code) || gen < low || gen > target {
			return wrong
		}
	}
	gen := sorted[0] / 1000
	switch {
	case sorted[len(sorted)-1]/1000 != gen:
		return mix
	case len(sorted) != generationRows:
		return part
	case gen == target:
		return fresh
	case gen == target-1:
		return old
	default:
		return wrong
	}
}

// classifyBoth says what the rows of two tables in one statement are.
func classifyBoth(codes []int, low, target int) class {
	var first, second []int
	for _, code := range codes {
		if code >= otherTable {
			second = append(second, code-otherTable)
		} else {
			first = append(first, code)
		}
	}
	a, b := classify(first, low, target), classify(second, low, target)
	switch {
	case a == b:
		return a
	case a == wrong || b == wrong:
		return wrong
	default:
		return apart
	}
}

// show writes rows down for a message: keys of each generation.
func show(codes []int) string {
	if len(codes) == 0 {
		return "no row"
	}
	var out []string
	for _, code := range slices.Sorted(slices.Values(codes)) {
		table := ""
		if code >= otherTable {
			code, table = code-otherTable, "second table "
		}
		out = append(out, fmt.Sprintf("%sgeneration %d key %d", table, code/1000, code%1000/2))
	}
	if len(out) > 6 {
		out = append(append(out[:3:3], fmt.Sprintf("… %d more …", len(out)-6)), out[len(out)-3:]...)
	}
	return strings.Join(out, ", ")
}
