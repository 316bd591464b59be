package chart

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample() *Chart {
	return &Chart{
		Title: "Title", YLabel: "rows",
		Steps: []string{"before", "plan 1", "plan 2\nfails", "after"},
		Bars:  []Series{{"old", []float64{5, 5, 5, 0}}, {"new", []float64{0, 0, 0, 3}}},
		Lines: []Series{{"staged", []float64{0, 1, 1, 0}}},
		Groups: []Group{
			{"A", 0, 2},
			{"B", 2, 4},
		},
	}
}

func TestWriteDrawsTheSameBytesAgain(t *testing.T) {
	dir := t.TempDir()
	for _, ending := range []string{".png", ".svg"} {
		one, two := filepath.Join(dir, "one"+ending), filepath.Join(dir, "two"+ending)
		require.NoError(t, sample().Write(one, two))
		first, err := os.ReadFile(one)
		require.NoError(t, err)
		second, err := os.ReadFile(two)
		require.NoError(t, err)
		require.True(t, bytes.Equal(first, second))
		require.Greater(t, len(first), 1000)
		if ending == ".png" {
			_, err := png.Decode(bytes.NewReader(first))
			require.NoError(t, err)
		} else {
			for _, words := range []string{"<svg", "before", "staged", "fails", "Liberation Sans,Arial"} {
				require.Contains(t, string(first), words)
			}
		}
	}
}

func TestWriteRefusesWhatItCannotDraw(t *testing.T) {
	cases := map[string]struct {
		spoil func(*Chart)
		path  string
		want  string
	}{
		"no steps":       {func(c *Chart) { *c = Chart{} }, "a.png", "no steps"},
		"missing value":  {func(c *Chart) { c.Bars[0].Values = nil }, "a.png", `series "old" has 0 values for 4 steps`},
		"gap in groups":  {func(c *Chart) { c.Groups[1].From = 3 }, "a.png", "should begin at 2"},
		"groups too few": {func(c *Chart) { c.Groups = c.Groups[:1] }, "a.png", "end at step 2 of 4"},
		"too many lines": {func(c *Chart) { c.Lines = make([]Series, 9) }, "a.png", "at most"},
		"format":         {func(*Chart) {}, "a.gif", "use .png or .svg"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			chart := sample()
			c.spoil(chart)
			path := filepath.Join(t.TempDir(), c.path)
			require.ErrorContains(t, chart.Write(path), c.want)
			require.NoFileExists(t, path)
		})
	}
}
