package figures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/chart"
)

const root = "../.."

func sample() *Results {
	r := &Results{}
	for _, id := range []string{"B10", "B2", "B1"} {
		r.Put(Benchmark{ID: id, Figures: []Figure{
			NewFigure("time", "s", NewSeries("publish", []float64{3, 1, 2}), NewSeries("insert", []float64{4, 4, 8}), 0.75),
			NewFigure("WAL", "MB", NewSeries("publish", []float64{1}), Series{}, 0),
		}})
	}
	return r
}

func TestRatioIsThatOfTheMedians(t *testing.T) {
	f := sample().Benchmarks[0].Figures[0]
	require.InDelta(t, 0.5, f.Ratio, 0)
	low, high := f.Spread()
	require.InDelta(t, 0.25, low, 0)
	require.InDelta(t, 0.75, high, 0)
	require.True(t, f.Reached())
	f.Reach = 0.4
	require.True(t, f.Missed())
	require.Equal(t, "0.50", f.RatioText())
	f.Reach = 0.497
	require.Equal(t, "0.500", f.RatioText())
	require.InDelta(t, 2.5, Median([]float64{4, 1, 2, 3}), 0)
}

func TestPutReplacesOnlyItsOwn(t *testing.T) {
	r := sample()
	r.Put(Benchmark{ID: "B2", Repeats: 7})
	var got []string
	for _, b := range r.Benchmarks {
		got = append(got, b.ID)
	}
	require.Equal(t, []string{"B1", "B2", "B10"}, got)
	b, ok := r.Of("B2")
	require.True(t, ok)
	require.Equal(t, 7, b.Repeats)
	_, ok = r.Of("B3")
	require.False(t, ok)
}

func TestReadRefusesARatioThatIsNotThatOfItsSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, sample().Write(path))
	again, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, sample(), again)

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"ratio": 0.5`, `"ratio": 0.4`, 1)), 0o600))
	_, err = Read(path)
	require.ErrorContains(t, err, "the ratio 0.4 or a median is not that of the samples (0.5)")

	none, err := Read(path + ".none")
	require.NoError(t, err)
	require.Empty(t, none.Benchmarks)
}

func TestInsertPutsTheTableBetweenTheMarkers(t *testing.T) {
	r := sample()
	got, err := r.Insert([]byte("a\n" + Begin + "\nold\n" + End + "\nb\n"))
	require.NoError(t, err)
	row := "| publish, time | insert | 0.50 | ≤ 0.75 |\n"
	require.Equal(t, "a\n"+Begin+"\n| measured | against | ratio | reach |\n|---|---|---|---|\n"+row+row+End+"\nb\n", string(got))
	for _, text := range []string{"", Begin, End + Begin, Begin + Begin + End} {
		_, err := r.Insert([]byte(text))
		require.ErrorIs(t, err, ErrNoMarkers, text)
	}
}

func TestChartHoldsItsFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.png")
	require.NoError(t, sample().Chart().Write(path))
	got, err := chart.Figures(path)
	require.NoError(t, err)
	row := "publish, time | insert | 0.500 | 0.250 to 0.750 | 0.750\n"
	require.Equal(t, row+row, got)
	require.Error(t, (&Results{}).Chart().Write(path))

	_, err = chart.Figures(filepath.Join(root, "docs", "demo.png"))
	require.ErrorContains(t, err, "it holds no figures")
}
