package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/chart"
)

// TestWhatIsPublishedIsWhatWasMeasured holds the README's table and the chart to
// bench/results.json, which must be that of a full run.
func TestWhatIsPublishedIsWhatWasMeasured(t *testing.T) {
	r, err := Read(filepath.Join(root, "bench", "results.json"))
	require.NoError(t, err)
	require.Len(t, r.Benchmarks, 12)
	for i, b := range r.Benchmarks {
		require.Equal(t, fmt.Sprintf("B%d", i+1), b.ID)
		require.Equal(t, 3_000_000, b.Rows, b.ID)
		require.GreaterOrEqual(t, b.Repeats, 5, b.ID)
	}

	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	again, err := r.Insert(readme)
	require.NoError(t, err)
	require.Equal(t, string(again), string(readme), "make bench writes it")
	require.Contains(t, string(readme), "(docs/bench.png)")

	drawn, err := chart.Figures(filepath.Join(root, "docs", "bench.png"))
	require.NoError(t, err)
	require.Equal(t, r.Chart().Figures(), drawn)
}
