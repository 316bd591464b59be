package figures

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cs9gen/cs9gen/internal/chart"
)

// Shown are the benchmarks that a user cares about: those of the README's table
// and of the chart.
var Shown = []string{"B1", "B2", "B3", "B4", "B6", "B7"}

// The markers around the table in the README.
const (
	Begin = "<!-- bench -->"
	End   = "<!-- /bench -->"
)

// ErrNoMarkers says that a text has no place for the table.
var ErrNoMarkers = errors.New("the markers " + Begin + " and " + End + " are not there, each once")

// Table is the table of the README: one row for each figure of [Shown] that has
// a reach.
func (r *Results) Table() string {
	var b strings.Builder
	b.WriteString("| measured | against | ratio | reach |\n|---|---|---|---|\n")
	for _, row := range r.shown() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.name(), row.figure.Against.Label, row.figure.RatioText(), "≤ "+Ratio(row.figure.Reach))
	}
	return b.String()
}

// Ratio writes a ratio with two decimals, or three where two would be 0.00.
func Ratio(v float64) string {
	if v < 0.005 {
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// RatioText writes the ratio of a figure, with a third decimal where two would
// hide that it is beyond its reach.
func (f Figure) RatioText() string {
	if text := Ratio(f.Ratio); !f.Missed() || text != Ratio(f.Reach) {
		return text
	}
	return fmt.Sprintf("%.3f", f.Ratio)
}

// Insert returns the text with the table between its markers.
func (r *Results) Insert(text []byte) ([]byte, error) {
	if bytes.Count(text, []byte(Begin)) != 1 || bytes.Count(text, []byte(End)) != 1 {
		return nil, ErrNoMarkers
	}
	before, rest, _ := bytes.Cut(text, []byte(Begin))
	_, after, ok := bytes.Cut(rest, []byte(End))
	if !ok {
		return nil, ErrNoMarkers
	}
	return slices.Concat(before, []byte(Begin+"\n"+r.Table()+End), after), nil
}

// UpdateFile puts the table between the markers of a file.
func (r *Results) UpdateFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	text, err = r.Insert(text)
	if err != nil {
		return fmt.Errorf("figures: %s: %w", path, err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // it is for everyone to read
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}

// Chart is the chart of the ratios of [Shown].
func (r *Results) Chart() *chart.Ratios {
	c := &chart.Ratios{
		Title:  "cs9gen against what would be used instead (time or WAL, ratio of medians; lower is better)",
		XLabel: "1.00: as much as what it is compared with",
	}
	for _, row := range r.shown() {
		low, high := row.figure.Spread()
		c.Rows = append(c.Rows, chart.Ratio{
			Name: plain(row.name()), Against: plain(row.figure.Against.Label), Label: row.figure.RatioText(),
			Value: row.figure.Ratio, Low: low, High: high, Reach: row.figure.Reach,
		})
	}
	return c
}

// plain takes the marks of code away, which a picture does not know.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// row is a figure with the benchmark that it is of.
type row struct {
	benchmark Benchmark
	figure    Figure
}

func (r row) name() string { return r.figure.Measured.Label + ", " + r.figure.Name }

func (r *Results) shown() []row {
	var rows []row
	for _, id := range Shown {
		b, _ := r.Of(id)
		for _, f := range b.Figures {
			if f.Reach > 0 && f.Ratio > 0 {
				rows = append(rows, row{b, f})
			}
		}
	}
	return rows
}
