// Package figures holds what the benchmarks measured: the samples of each side,
// the ratio of their medians, and the reach that it is held against. It reads
// and writes bench/results.json, and renders the table of the README and the
// chart from it. How something is measured is decided in bench.
package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// Results are the newest figures of every benchmark, in order of their ids.
type Results struct {
	Benchmarks []Benchmark `json:"benchmarks"`
}

// Benchmark is what one benchmark measured, side by side in one run.
type Benchmark struct {
	ID          string      `json:"id"` // B1, B2, ...
	Measured    string      `json:"measured"`
	Against     string      `json:"against"`
	Rows        int         `json:"rows"` // the size that counts as full: 3,000,000 in the real run
	Repeats     int         `json:"repeats"`
	Ended       string      `json:"ended"` // RFC 3339, UTC
	Environment Environment `json:"environment"`
	Figures     []Figure    `json:"figures"`
	Notes       []string    `json:"notes,omitempty"`
}

// Environment is where a benchmark was run.
type Environment struct {
	Machine    string            `json:"machine"`
	OS         string            `json:"os"`
	Go         string            `json:"go"`
	PostgreSQL string            `json:"postgresql"`
	Commit     string            `json:"commit"`
	Settings   map[string]string `json:"settings"` // of the server, other than its defaults
	Versions   map[string]string `json:"versions"` // of what is compared with
	Seed       uint64            `json:"seed"`     // of the order of the rows
}

// Figure is one measured quantity of a benchmark.
type Figure struct {
	Name     string `json:"name"` // "time", "WAL", ...
	Unit     string `json:"unit"` // "s", "ms", "MB"
	Measured Series `json:"measured"`
	// Against has no samples when the figure is not compared.
	Against Series `json:"against"`
	// Ratio is the ratio of the two medians; 0 when there is nothing to compare.
	Ratio float64 `json:"ratio,omitempty"`
	// Reach is the highest ratio that is good; 0: the figure is only told.
	Reach float64 `json:"reach,omitempty"`
}

// Series are the samples of one side, in the order in which they were taken.
// Sample i of both sides was taken in round i.
type Series struct {
	Label   string    `json:"label"`
	Samples []float64 `json:"samples"`
	Median  float64   `json:"median"`
}

// NewSeries returns a series with its median.
func NewSeries(label string, samples []float64) Series {
	return Series{Label: label, Samples: samples, Median: Median(samples)}
}

// NewFigure compares two series; reach 0 only tells the ratio.
func NewFigure(name, unit string, measured, against Series, reach float64) Figure {
	f := Figure{Name: name, Unit: unit, Measured: measured, Against: against, Reach: reach}
	if against.Median > 0 {
		f.Ratio = round(measured.Median / against.Median)
	}
	return f
}

// Median returns the median, and 0 for no samples.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(samples))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// Spread returns the lowest and the highest ratio of a round.
func (f Figure) Spread() (low, high float64) {
	for i := range min(len(f.Measured.Samples), len(f.Against.Samples)) {
		ratio := f.Measured.Samples[i] / f.Against.Samples[i]
		if i == 0 {
			low, high = ratio, ratio
		}
		low, high = min(low, ratio), max(high, ratio)
	}
	return low, high
}

// Reached reports whether a figure that has a reach is within it.
func (f Figure) Reached() bool { return f.Reach > 0 && f.Ratio <= f.Reach }

// Missed reports whether a figure that has a reach is beyond it.
func (f Figure) Missed() bool { return f.Reach > 0 && f.Ratio > f.Reach }

// round keeps three decimals: what a ratio of times can carry.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// Read reads results, and checks that each median and ratio is that of its
// samples. A file that is not there holds no results.
func Read(path string) (*Results, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return &Results{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	var r Results
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("figures: %s: %w", path, err)
	}
	for _, b := range r.Benchmarks {
		for _, f := range b.Figures {
			again := NewFigure(f.Name, f.Unit, NewSeries("", f.Measured.Samples), NewSeries("", f.Against.Samples), f.Reach)
			if again.Ratio != f.Ratio || again.Measured.Median != f.Measured.Median || again.Against.Median != f.Against.Median {
				return nil, fmt.Errorf("figures: %s: %s %s: the ratio %v or a median is not that of the samples (%v); run the benchmark again",
					path, b.ID, f.Name, f.Ratio, again.Ratio)
			}
		}
	}
	return &r, nil
}

// Write writes results.
func (r *Results) Write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil { //nolint:gosec // it is for everyone to read
		return fmt.Errorf("figures: %w", err)
	}
	return nil
}

// Put replaces what is known of a benchmark, and leaves the others.
func (r *Results) Put(b Benchmark) {
	r.Benchmarks = slices.DeleteFunc(r.Benchmarks, func(o Benchmark) bool { return o.ID == b.ID })
	r.Benchmarks = append(r.Benchmarks, b)
	slices.SortFunc(r.Benchmarks, func(a, b Benchmark) int {
		if len(a.ID) != len(b.ID) {
			return len(a.ID) - len(b.ID) // B9 before B10
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// Of returns the benchmark with an id.
func (r *Results) Of(id string) (Benchmark, bool) {
	i := slices.IndexFunc(r.Benchmarks, func(b Benchmark) bool { return b.ID == id })
	if i < 0 {
		return Benchmark{}, false
	}
	return r.Benchmarks[i], true
}
