package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestDemoKeepsItsClaims plays the demo on a server of its own, twice: it draws
// and prints the same both times.
func TestDemoKeepsItsClaims(t *testing.T) {
	var texts []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "out")
		report, err := Run(t.Context(), Options{OutDir: dir})
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Len(t, report.Claims, len(claims))
		for _, path := range report.Charts {
			require.FileExists(t, path)
		}
		for i := range report.Charts {
			text, err := os.ReadFile(report.Charts[i])
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
		report.Charts = nil
		texts = append(texts, printed(t, report))
	}
	require.Equal(t, texts[:3], texts[3:])
	for _, line := range strings.Split(strings.TrimSpace(wantTable), "\n") {
		require.Contains(t, texts[2], line)
	}
}

const wantTable = `
A success          plan 3          5 old        3  adds a row
A success          published       3 new        0
B failure          failed          5 old        2  what was staged is kept
C retry            plan 2 skipped  5 old        2  its row was staged before
C retry            published       3 new        0
D stopped publish  stopped         1 new        3  batched: readers see a part until it is resumed
D stopped publish  resumed         3 new        0  published the rest, ran no plan
ok      D: the next attempt ran no plan
`

// inventory is how many relations each schema has.
const inventory = `SELECT string_agg(nspname || ':' || (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid), ' ' ORDER BY nspname)
	FROM pg_namespace AS n WHERE nspname !~ '^pg_(toast|temp)'`

// TestDemoLeavesNothingBehind: in a database that is given, whether or not it
// holds the cs9 schema, the demo takes away all that it made.
func TestDemoLeavesNothingBehind(t *testing.T) {
	for name, url := range map[string]string{"without cs9": pgtest.EmptyDatabase(t), "with cs9": pgtest.NewDatabase(t)} {
		t.Run(name, func(t *testing.T) {
			conn := pgtest.Connect(t, url)
			was := pgtest.Scalar[string](t, conn, inventory)
			for range 2 {
				report, err := Run(t.Context(), Options{Database: config(t, url), OutDir: t.TempDir()})
				require.NoError(t, err)
				require.NoError(t, report.Err())
			}
			require.Equal(t, was, pgtest.Scalar[string](t, conn, inventory))
			if name == "with cs9" {
				require.Zero(t, pgtest.Scalar[int](t, conn, "SELECT (SELECT count(*) FROM cs9.task) + (SELECT count(*) FROM cs9.run) + (SELECT count(*) FROM cs9.table_definition)"))
			}
		})
	}
}

// TestAnInterruptedDemoLeavesNothingBehind: wherever it is interrupted, which the
// times only spread.
func TestAnInterruptedDemoLeavesNothingBehind(t *testing.T) {
	url := pgtest.EmptyDatabase(t)
	conn := pgtest.Connect(t, url)
	was := pgtest.Scalar[string](t, conn, inventory)
	for after := 20 * time.Millisecond; after < 2*time.Second; after *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		_, err := Run(ctx, Options{Database: config(t, url), OutDir: t.TempDir()})
		cancel()
		require.Equal(t, was, pgtest.Scalar[string](t, conn, inventory), "interrupted after %s: %v", after, err)
	}
}

func TestDemoTouchesNothingThatIsThere(t *testing.T) {
	url := pgtest.NewDatabase(t)
	conn := pgtest.Connect(t, url)
	pgtest.Exec(t, conn, "CREATE SCHEMA anon_demo", "CREATE TABLE anon_demo.counts (a integer)")
	_, err := Run(t.Context(), Options{Database: config(t, url), OutDir: t.TempDir()})
	require.ErrorContains(t, err, "has a schema anon_demo already")
	require.True(t, pgtest.Scalar[bool](t, conn, "SELECT to_regclass('anon_demo.counts') IS NOT NULL"))

	pgtest.Exec(t, conn, "DROP SCHEMA anon_demo CASCADE", "INSERT INTO cs9.task (task) VALUES ('cs9gen demo')")
	_, err = Run(t.Context(), Options{Database: config(t, url), OutDir: t.TempDir()})
	require.ErrorContains(t, err, `has runs of a task "cs9gen demo" already`)
	require.Equal(t, 1, pgtest.Scalar[int](t, conn, "SELECT count(*) FROM cs9.task"))
	require.False(t, pgtest.Scalar[bool](t, conn, "SELECT to_regnamespace('anon_demo') IS NOT NULL"))
}

// TestABrokenPromiseIsSeen spoils what the demo saw, one record at a time: each
// claim fails when what it is about is not so.
func TestABrokenPromiseIsSeen(t *testing.T) {
	report, err := Run(t.Context(), Options{OutDir: t.TempDir()})
	require.NoError(t, err)
	step := func(scenario string, at moment, plan int) func(r *Report) *Step {
		return func(r *Report) *Step {
			for i := range r.Steps {
				if s := &r.Steps[i]; s.Scenario == scenario && s.Moment == at && s.Plan == plan {
					return s
				}
			}
			t.Fatalf("no step %s %s %d", scenario, at, plan)
			return nil
		}
	}
	spoils := []func(r *Report){
		func(r *Report) { step("A", planDone, 2)(r).Old = 0 },
		func(r *Report) { step("A", planDone, 3)(r).Staged = []int{1, 3} },
		func(r *Report) { step("A", published, 0)(r).New = []int{1, 2, 2, 3} },
		func(r *Report) { step("B", failed, 0)(r).New = []int{1} },
		func(r *Report) { step("B", failed, 0)(r).Staged = nil },
		func(r *Report) { step("C", begun, 0)(r).Staged = []int{1} },
		func(r *Report) { r.Attempts[2].Run, r.Attempts[2].Skipped = []int{1, 2, 3}, nil },
		func(r *Report) { step("C", planSkipped, 2)(r).Old = 4 },
		func(r *Report) { step("C", published, 0)(r).New = []int{1, 3} },
		func(r *Report) { step("D", planDone, 3)(r).New = []int{1} },
		func(r *Report) { step("D", stopped, 0)(r).New = nil },
		func(r *Report) { r.Attempts[4].Run = []int{1} },
		func(r *Report) { step("D", resumed, 0)(r).Staged = []int{3} },
	}
	require.Len(t, spoils, len(claims), "one for each claim")
	for i, spoil := range spoils {
		broken := copyOf(t, report)
		spoil(broken)
		broken.Claims = check(broken.Steps, broken.Attempts)
		require.False(t, broken.Claims[i].OK, claims[i].text)
		err := broken.Err()
		require.ErrorIs(t, err, ErrClaim)
		require.ErrorContains(t, err, claims[i].text)
		require.Contains(t, printed(t, broken), "FAILED  "+claims[i].scenario+": "+claims[i].text)
	}
}

// TestAClaimNeedsItsEvidence: where nobody looked, nothing is claimed.
func TestAClaimNeedsItsEvidence(t *testing.T) {
	for _, c := range check(nil, nil) {
		require.False(t, c.OK, c.Text)
		require.NotEmpty(t, c.Saw)
	}
}

func config(t *testing.T, url string) *pgxpool.Config {
	t.Helper()
	c, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	return c
}

func copyOf(t *testing.T, r *Report) *Report {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var c Report
	require.NoError(t, json.Unmarshal(text, &c))
	require.True(t, slices.EqualFunc(r.Claims, c.Claims, func(a, b Claim) bool { return a == b }))
	return &c
}

func printed(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.Print(&b))
	return b.String()
}
