package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// line is a figure on a terminal.
func line(b figures.Benchmark, f figures.Figure) string {
	text := fmt.Sprintf("%-4s%s, %s: %s", b.ID, f.Measured.Label, f.Name, spread(f.Measured, f.Unit))
	if f.Ratio > 0 {
		low, high := f.Spread()
		text += fmt.Sprintf(" against %s: %s; ratio %.3f (%.3f to %.3f)", f.Against.Label, spread(f.Against, f.Unit), f.Ratio, low, high)
	}
	switch {
	case f.Reached():
		text += fmt.Sprintf(", reach %.2f", f.Reach)
	case f.Missed():
		text += fmt.Sprintf(", MISSED the reach of %.2f", f.Reach)
	}
	return text
}

// spread is the median of a series, and its lowest and highest sample.
func spread(s figures.Series, unit string) string {
	if len(s.Samples) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s (%s to %s)", number(s.Median), unit, number(slices.Min(s.Samples)), number(slices.Max(s.Samples)))
}

// number writes three digits that count, or all before the point.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// render writes all that is made from the results.
func render(root string, r *figures.Results) error {
	errs := []error{os.WriteFile(filepath.Join(root, "bench", "RESULTS.md"), []byte(markdown(r)), 0o644)} //nolint:gosec // it is for everyone to read
	if chart := r.Chart(); len(chart.Rows) > 0 {
		errs = append(errs, chart.Write(filepath.Join(root, "docs", "bench.png")))
		if err := r.UpdateFile(filepath.Join(root, "README.md")); !errors.Is(err, figures.ErrNoMarkers) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// markdown is RESULTS.md.
func markdown(r *figures.Results) string {
	var b strings.Builder
	b.WriteString("# What was measured\n\n" +
		"Written by `make bench`; do not edit. Every figure is the median of rounds in which all sides were measured in turn\n" +
		"(A B C, A B C, …), each from a database cloned for it and after a `CHECKPOINT`; in brackets the lowest and the highest.\n" +
		"A ratio is that of the medians, and in brackets the lowest and highest of a round. WAL is what `pg_wal_lsn_diff`\n" +
		"tells. Every result is checked, outside the timing: the number of rows, and a sum over them. `results.json` holds\n" +
		"every sample.\n\n" +
		"| | measured | | against | | ratio | reach | |\n|---|---|---|---|---|---|---|---|\n")
	for _, m := range r.Benchmarks {
		for _, f := range m.Figures {
			writeFigure(&b, m, f)
		}
	}
	b.WriteString("\n## Notes\n\n")
	for _, m := range r.Benchmarks {
		fmt.Fprintf(&b, "- %s: %d rounds; %s rows count as full; ended %s.\n", m.ID, m.Repeats, thousands(m.Rows), m.Ended)
		for _, n := range m.Notes {
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	b.WriteString("\n## Where\n")
	writeEnvironments(&b, r)
	b.WriteString("\n## Again\n\n" +
		"`make bench` measures everything in about 40 minutes on such a machine, and replaces this file. It needs nothing else\n" +
		"running. `ROWS=100000 REPEATS=3 ONLY=B1,B7 make bench` measures less: the sizes of all benchmarks are scaled with\n" +
		"ROWS, and only the rows of the named benchmarks are replaced. `SEED=41 make bench` takes another random order.\n")
	return b.String()
}

func writeFigure(b *strings.Builder, m figures.Benchmark, f figures.Figure) {
	ratio, reach, verdict := "", "", ""
	if f.Ratio > 0 {
		low, high := f.Spread()
		ratio = fmt.Sprintf("**%s** (%s to %s)", f.RatioText(), figures.Ratio(low), figures.Ratio(high))
	}
	if f.Reach > 0 {
		reach, verdict = fmt.Sprintf("≤ %.2f", f.Reach), "reached"
		if f.Missed() {
			verdict = "**missed**"
		}
	}
	fmt.Fprintf(b, "| %s | %s, %s | %s | %s | %s | %s | %s | %s |\n", m.ID, f.Measured.Label, f.Name,
		spread(f.Measured, f.Unit), f.Against.Label, spread(f.Against, f.Unit), ratio, reach, verdict)
}

// writeEnvironments says where, once for all benchmarks that share it.
func writeEnvironments(b *strings.Builder, r *figures.Results) {
	var texts []string
	of := map[string][]string{}
	for _, m := range r.Benchmarks {
		text := describe(m.Environment)
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], m.ID)
	}
	for _, text := range texts {
		fmt.Fprintf(b, "\n%s:\n\n%s", strings.Join(of[text], ", "), text)
	}
}

func describe(e figures.Environment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- machine: %s; %s\n- PostgreSQL %s; %s; cs9gen at %s\n- seed of the random order: %d\n- server: its defaults, and",
		e.Machine, e.OS, e.PostgreSQL, e.Go, e.Commit, e.Seed)
	for i, name := range slices.Sorted(maps.Keys(e.Settings)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " `%s = %s`", name, e.Settings[name])
	}
	b.WriteString("\n- compared with:")
	for i, name := range slices.Sorted(maps.Keys(e.Versions)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %s", name, e.Versions[name])
	}
	b.WriteString("\n")
	return b.String()
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
