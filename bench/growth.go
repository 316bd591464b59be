package main

import (
	"context"
	"fmt"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// measureGrowth compares a publish of 10 million rows with one of 1 million.
func measureGrowth(ctx context.Context, l *lab) ([]figures.Benchmark, error) {
	few, many := l.cfg.data(1_000_000, random), l.cfg.data(10_000_000, random)
	var pieces []piece
	for _, d := range []dataset{few, many} {
		template, err := l.ready(ctx, counts, d, nil)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, l.piece(d.name(), l.publishJob(template, d, "batched", 1)))
	}
	s, err := l.interleave(ctx, l.cfg.repeats, pieces)
	if err != nil {
		return nil, err
	}
	each := func(d dataset) figures.Series {
		return s.series(d.name(), fmt.Sprintf("publish, batched, of %s rows", thousands(d.rows)),
			func(s sample) float64 { return s.seconds * 1e6 / float64(d.rows) })
	}
	return []figures.Benchmark{{
		ID: "B9", Measured: "a batched publish of 10 million rows", Against: "one of 1 million, per row",
		Figures: []figures.Figure{figures.NewFigure("time per row", "µs", each(many), each(few), 1.15)},
		Notes:   []string{"The live table is empty before. What limits it: in random order the 200,000 rows of a batch fall on all leaf pages of the key's index, at 1 million rows some 30 on a page, at 10 million 3 (3 million made 19,000 page splits), so that they share less of the work. Rows that are staged in the order of the key do not have it; nor would moves in that order, but see B2."},
	}}, nil
}
