package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cs9gen/cs9gen/internal/chart"
	"github.com/cs9gen/cs9gen/internal/figures"
)

func TestMain(m *testing.M) {
	if child, err := stageAsChild(context.Background()); child {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestTheReportIsWhatWasMeasured holds RESULTS.md to results.json.
func TestTheReportIsWhatWasMeasured(t *testing.T) {
	results, err := figures.Read("results.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, "RESULTS.md"); got != markdown(results) {
		t.Error("RESULTS.md is not what results.json says; make bench writes both")
	}
}

// TestEveryBenchmark measures all of them with a batch of one day, and checks
// that each tells figures; what is moved is checked by each of them. How fast
// that was decides nothing.
func TestEveryBenchmark(t *testing.T) {
	t.Setenv("ROWS", "")
	t.Setenv("REPEATS", "")
	t.Setenv("ONLY", "")
	root := t.TempDir()
	for _, dir := range []string{"bench", "docs"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	readme := filepath.Join(root, "README.md")
	write(t, readme, "before\n"+figures.Begin+"\n"+figures.End+"\nafter\n")
	cfg, err := configure(root, testLog{t})
	if err != nil {
		t.Fatal(err)
	}
	cfg.rows, cfg.repeats = 2*leastRows, 1
	if err := measure(t.Context(), cfg, groups); err != nil {
		t.Error(err)
	}

	results, err := figures.Read(filepath.Join(root, "bench", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	report := read(t, filepath.Join(root, "bench", "RESULTS.md"))
	for _, id := range ids() {
		b, ok := results.Of(id)
		if !ok {
			t.Errorf("%s is not in the results", id)
			continue
		}
		checkFigures(t, b)
		if !strings.Contains(report, "| "+id+" |") {
			t.Errorf("%s is not in RESULTS.md", id)
		}
	}
	if got := read(t, readme); !strings.Contains(got, results.Table()) || !strings.HasSuffix(got, "\nafter\n") {
		t.Errorf("README is\n%s", got)
	}
	drawn, err := chart.Figures(filepath.Join(root, "docs", "bench.png"))
	if err != nil || drawn != results.Chart().Figures() {
		t.Errorf("the chart shows (%v)\n%s", err, drawn)
	}
}

func checkFigures(t *testing.T, b figures.Benchmark) {
	t.Helper()
	if len(b.Figures) == 0 || b.Environment.PostgreSQL == "" || len(b.Environment.Versions) < 2 {
		t.Errorf("%s lacks figures, or where they were measured: %+v", b.ID, b.Environment)
	}
	if !slices.ContainsFunc(b.Figures, func(f figures.Figure) bool { return f.Reach > 0 }) {
		t.Errorf("%s has no figure with a reach", b.ID)
	}
	for _, f := range b.Figures {
		if len(f.Measured.Samples) != b.Repeats || slices.Min(f.Measured.Samples) <= 0 {
			t.Errorf("%s %s: %v in %d rounds", b.ID, f.Name, f.Measured, b.Repeats)
		}
		if f.Reach > 0 && (len(f.Against.Samples) != b.Repeats || f.Ratio <= 0) {
			t.Errorf("%s %s: %v in %d rounds", b.ID, f.Name, f.Against, b.Repeats)
		}
	}
}

func TestConfigureRefusesWhatItCannotMeasure(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"ROWS", "10", "15000 at least"},
		{"REPEATS", "many", "1 at least"},
		{"ONLY", "B1,B99", `ONLY names "B99"; there are B1, B2`},
		{"SEED", "-1", "SEED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			if _, err := configure(".", testLog{t}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRandomOrderHasEachRowOnce(t *testing.T) {
	for _, rows := range []int{1, 2, 1000, 4096, 12_345} {
		at := dataset{rows: rows, order: random, seed: 40}.permutation()
		seen, moved := make([]bool, rows), 0
		for i := range rows {
			n := at(i)
			if seen[n] {
				t.Fatalf("row %d of %d comes twice", n, rows)
			}
			seen[n] = true
			if n != i {
				moved++
			}
		}
		if rows >= 1000 && moved < rows*9/10 {
			t.Errorf("only %d of %d rows are out of order", moved, rows)
		}
	}
}

type testLog struct{ *testing.T }

func (t testLog) Write(p []byte) (int, error) {
	t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
