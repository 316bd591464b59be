package model

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// Without flags and environment the sequences are the same in every run.
const (
	definitions   = "testdata/tables.yaml"
	defaultSeed   = 9
	defaultChecks = 25
)

// setFlag sets a flag of rapid's for the rest of the test, unless the command
// line has set it.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	f := flag.Lookup(name)
	before := f.Value.String()
	require.NoError(t, f.Value.Set(value))
	t.Cleanup(func() { require.NoError(t, f.Value.Set(before)) })
}

func newModelDatabase(t *testing.T) *database {
	t.Helper()
	db, err := openDatabase(pgtest.NewDatabase(t, definitions))
	require.NoError(t, err)
	t.Cleanup(db.close)
	return db
}

// TestPromisesAgainstAModel makes random sequences in a database and in the
// model. CS9GEN_MODEL_CHECKS says how many; -rapid.seed, which (0: by the clock).
func TestPromisesAgainstAModel(t *testing.T) {
	checks := strconv.Itoa(defaultChecks)
	if given := os.Getenv("CS9GEN_MODEL_CHECKS"); given != "" {
		checks = given
	}
	setFlag(t, "rapid.checks", checks)
	setFlag(t, "rapid.seed", strconv.Itoa(defaultSeed))
	setFlag(t, "rapid.nofailfile", "true")
	db, stats, began := newModelDatabase(t), map[string]int{}, time.Now()
	rapid.Check(t, property(db, stats))
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(stats)) {
		counts = append(counts, fmt.Sprintf("%s %d", name, stats[name]))
	}
	t.Logf("%d sequences without a difference, seed %s, in %s: %s", stats["sequences"], flag.Lookup("rapid.seed").Value,
		time.Since(began).Round(time.Second), strings.Join(counts, ", "))
}
