package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

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

// TestJSONGivesTimesInUTC whatever the zone of the program is, in which the driver gives them.
func TestJSONGivesTimesInUTC(t *testing.T) {
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.FixedZone("west", -5*60*60))
	var stdout strings.Builder
	a := &app{stdout: &stdout, json: true}
	require.NoError(t, a.reportDetail(&runner.RunDetail{
		RunStatus: runner.RunStatus{BegunAt: at, AttemptAt: at, EndedAt: &at},
		PlanList:  []runner.PlanStatus{{BeganAt: &at, FinishedAt: &at}},
		Steps:     []runner.StepStatus{{BeganAt: &at, FinishedAt: &at}},
	}))
	require.Equal(t, 7, strings.Count(stdout.String(), `_at": "2026-11-30T15:00:00Z"`), stdout.String())
}
