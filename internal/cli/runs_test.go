package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/runner"
)

func TestRunsSayWhenThereAreMore(t *testing.T) {
	runs := make([]runner.RunStatus, newest+1)
	var stdout, stderr strings.Builder
	a := &app{stdout: &stdout, stderr: &stderr}
	require.NoError(t, a.reportRuns(runs, false))
	require.Equal(t, newest+1, strings.Count(stdout.String(), "\n"), "a head and the runs")
	require.Equal(t, "only the newest 50 runs are listed; --all lists all\n", stderr.String())

	stdout.Reset()
	stderr.Reset()
	a.json = true
	require.NoError(t, a.reportRuns(runs, false))
	require.JSONEq(t, `{"note":"only the newest 50 runs are listed; --all lists all"}`, stderr.String())
	var list []runReport
	require.NoError(t, json.Unmarshal([]byte(stdout.String()), &list))
	require.Len(t, list, newest)

	stderr.Reset()
	stdout.Reset()
	require.NoError(t, a.reportRuns(runs, true))
	require.Empty(t, stderr.String())
	require.NoError(t, json.Unmarshal([]byte(stdout.String()), &list))
	require.Len(t, list, newest+1)
}
