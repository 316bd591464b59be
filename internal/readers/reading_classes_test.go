package readers_test

import (
	"slices"
	"testing"
)

// rowsOf are the codes of a complete generation.
func rowsOf(gen int) []int {
	var codes []int
	for k := firstKey(gen); k < firstKey(gen)+generationRows; k++ {
		codes = append(codes, gen*1000+k*2+k%2)
	}
	return codes
}

func second(codes []int) []int {
	out := slices.Clone(codes)
	for i := range out {
		out[i] += otherTable
	}
	return out
}

// TestP12TheTestTellsReadingsApart: a reading that is not a whole generation is
// never taken for one.
func TestP12TheTestTellsReadingsApart(t *testing.T) {
	six, seven := rowsOf(6), rowsOf(7)
	strange := slices.Concat(seven[:generationRows-1], []int{7*1000 + 40*2})
	for name, c := range map[string]struct {
		codes []int
		low   int
		want  class
	}{
		"no row":                           {nil, 6, empty},
		"the one before":                   {six, 6, old},
		"the new one":                      {seven, 6, fresh},
		"one row missing":                  {seven[1:], 6, part},
		"one row of the one before":        {six[:1], 6, part},
		"a row too many":                   {slices.Concat(seven, six[:1]), 6, mix},
		"a row twice":                      {slices.Concat(seven[1:], seven[1:2]), 6, wrong},
		"a row that it does not have":      {strange, 6, wrong},
		"one older than was published":     {six, 7, wrong},
		"one that is not yet published":    {rowsOf(8), 6, wrong},
		"one that was published long ago":  {rowsOf(5), 6, wrong},
		"a part of one too old":            {six[3:5], 7, wrong},
		"nothing after it was published":   {nil, 7, empty},
		"all, where a new one is expected": {seven, 7, fresh},
	} {
		if got := classify(c.codes, c.low, 7); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		codes []int
		want  class
	}{
		"both old":            {slices.Concat(six, second(six)), old},
		"both new":            {slices.Concat(seven, second(seven)), fresh},
		"one old, one new":    {slices.Concat(six, second(seven)), apart},
		"one new, one empty":  {seven, apart},
		"one old, one a part": {slices.Concat(six, second(seven[4:])), apart},
		"one wrong":           {slices.Concat(rowsOf(4), second(seven)), wrong},
		"both empty":          {nil, empty},
	} {
		if got := classifyBoth(c.codes, 6, 7); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
