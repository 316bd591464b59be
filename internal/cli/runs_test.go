package cli

import (
	"encoding/json"
	"fmt"
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
	}, false))
	require.Equal(t, 7, strings.Count(stdout.String(), `_at": "2026-11-30T15:00:00Z"`), stdout.String())
}

// TestShowFoldsPlansInTheSameState but not one with an error, and --all and --json fold none.
func TestShowFoldsPlansInTheSameState(t *testing.T) {
	rows, attempt := int64(3), 1
	plans := make([]runner.PlanStatus, 20_000)
	for i := range plans {
		plans[i] = runner.PlanStatus{Plan: i + 1, State: "done", Attempt: &attempt, RowsStaged: &rows, Argsets: []byte(fmt.Sprintf("[%d]", i+1))}
	}
	plans[9_999].State, plans[9_999].Error = "failed", "no \x1b[2J"
	plans[10_000].State, plans[10_000].Error = "failed", "cancelled: context canceled"
	for i := 10_001; i < len(plans); i++ {
		plans[i].State, plans[i].Attempt, plans[i].RowsStaged = "waiting", nil, nil
	}
	show := func(all, json bool, plans []runner.PlanStatus) (stdout, stderr string) {
		var out, note strings.Builder
		a := &app{stdout: &out, stderr: &note, json: json}
		require.NoError(t, a.reportDetail(&runner.RunDetail{PlanList: plans}, all))
		return out.String(), note.String()
	}
	text, note := show(false, false, plans)
	require.Less(t, strings.Count(text, "\n"), 25, text)
	require.Empty(t, note)
	for _, line := range []string{`1-9999 +done +1 +29997 +\[1\] … \[9999\]`, `10000 +failed`, `10002-20000 +waiting +- +- `, `plan 10000 failed: no \\x1b\[2J`, `plan 10001 cancelled: context canceled`} {
		require.Regexp(t, line, text)
	}
	text, _ = show(true, false, plans)
	require.Greater(t, strings.Count(text, "\n"), 20_000)
	text, _ = show(false, true, plans)
	require.Equal(t, 20_000, strings.Count(text, `"plan":`))

	// few are listed one by one, and states that change with each plan are cut
	text, _ = show(false, false, plans[:foldedFrom])
	require.Regexp(t, `(?m)^50 +done`, text)
	for i := range plans {
		plans[i].Skipped = i%2 == 0
	}
	text, note = show(false, false, plans)
	require.Less(t, strings.Count(text, "\n"), listed+25)
	require.Contains(t, note, "--all lists each plan")
}
