package procs_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
	"github.com/cs9gen/cs9gen/procs"
)

var update = flag.Bool("update", false, "write the tables of docs/sql-interface.md anew")

const docs = "../docs/sql-interface.md"

var comment = regexp.MustCompile(`(?s)\s+IS '(.*)';$`)

// TestDocsListEveryRoutineAndError holds docs/sql-interface.md and the routines together.
func TestDocsListEveryRoutineAndError(t *testing.T) {
	data, err := os.ReadFile(docs)
	require.NoError(t, err)
	text := string(data)
	var errors, inside strings.Builder
	errors.WriteString("| SQLSTATE | name | meaning | what to do |\n| --- | --- | --- | --- |\n")
	for _, c := range procs.ErrorCodes {
		fmt.Fprintf(&errors, "| `%s` | %s | %s | %s |\n", c.SQLState, c.Name, c.Meaning, c.Remedy)
	}
	inside.WriteString("| routine | what it does |\n| --- | --- |\n")
	routines, err := procs.Routines()
	require.NoError(t, err)
	above, _, found := strings.Cut(text, "## What the procedures are made of")
	require.True(t, found)
	for _, r := range routines {
		if !strings.Contains(above, "cs9."+r.Name+"(") {
			match := comment.FindStringSubmatch(r.Comment())
			require.NotNil(t, match, r.Name)
			fmt.Fprintf(&inside, "| `cs9.%s` | %s |\n", r.Name, strings.ReplaceAll(match[1], "''", "'"))
		}
	}
	want := section(t, section(t, text, "errors", errors.String()), "inside", inside.String())
	if *update {
		require.NoError(t, os.WriteFile(docs, []byte(want), 0o644))
		return
	}
	require.Empty(t, cmp.Diff(want, text), "go test ./procs -run Docs -update writes it anew")
}

// section returns text with what is between two markers replaced.
func section(t *testing.T, text, name, body string) string {
	t.Helper()
	begin := fmt.Sprintf("<!-- %s: written by the tests of procs, with -update -->\n", name)
	end := fmt.Sprintf("<!-- end of %s -->", name)
	before, rest, ok := strings.Cut(text, begin)
	require.True(t, ok, begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, end)
	return before + begin + body + end + after
}

// TestDocsListTheColumnsOfTheViews compares the table of views with the catalogue.
func TestDocsListTheColumnsOfTheViews(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(docs)
	require.NoError(t, err)
	conn := pgtest.Connect(t, pgtest.NewDatabase(t))
	for _, view := range []string{"run_status", "plan_status", "publish_progress"} {
		columns := pgtest.Scalar[string](t, conn,
			"SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0", "cs9."+view)
		require.Regexp(t, `(?m)^\| .cs9\.`+view+`. \| [a-z ]+ \| `+columns+` \|$`, string(data))
	}
}
