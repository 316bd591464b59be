package procs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/procs"
)

// body is one routine or template, by file.
type body struct{ name, sql string }

func bodies(t *testing.T) []body {
	t.Helper()
	routines, err := procs.Routines()
	require.NoError(t, err)
	out := make([]body, 0, len(routines))
	for _, r := range routines {
		out = append(out, body{r.Name, r.SQL})
	}
	templates, err := procs.TableTemplates()
	require.NoError(t, err)
	for _, tpl := range templates.Templates() {
		if tpl.Tree != nil {
			out = append(out, body{tpl.Name(), tpl.Root.String()})
		}
	}
	require.Greater(t, len(out), 40)
	return out
}

var (
	committing = regexp.MustCompile(`(?m)^\s*(COMMIT;|CALL cs9\.publish_table)`)
	raise      = regexp.MustCompile(`(?s)RAISE EXCEPTION.*?;\n`)
	state      = regexp.MustCompile(`'(S9[0-9]{3})'`)
)

func TestRoutinesHaveASafeSearchPath(t *testing.T) {
	for _, b := range bodies(t) {
		if strings.Contains(b.sql, "LANGUAGE sql") {
			continue // a constant
		}
		if committing.MatchString(b.sql) {
			require.NotContains(t, b.sql, "SET search_path", "%s: a procedure that commits can have no SET", b.name)
			require.NotContains(t, b.sql, "SECURITY DEFINER", b.name)
			require.NotRegexp(t, `(?m)^EXCEPTION`, b.sql, "%s: COMMIT in a block with EXCEPTION fails at run time", b.name)
			continue
		}
		require.Contains(t, b.sql, "SET search_path = pg_catalog, pg_temp", b.name)
	}
}

func TestRoutinesSayWhatTheyAreFor(t *testing.T) {
	for _, b := range bodies(t) {
		require.True(t, strings.HasPrefix(b.sql, "-- Purpose: "), b.name)
		require.Equal(t, !strings.Contains(b.sql, "LANGUAGE sql"), strings.Contains(b.sql, "#variable_conflict error"), b.name)
		if !strings.HasPrefix(b.name, "table_") {
			require.Contains(t, b.sql, "\nCOMMENT ON ", b.name)
			require.Contains(t, b.sql, "$"+b.name+"$", "%s: a dollar tag of its own", b.name)
		}
	}
}

func TestErrorsSayStateDetailHintAndPlace(t *testing.T) {
	for _, b := range bodies(t) {
		for _, r := range raise.FindAllString(b.sql, -1) {
			for _, field := range []string{"ERRCODE = ", "DETAIL = ", "HINT = ", "SCHEMA = ", "TABLE = "} {
				require.Contains(t, r, field, "%s: %s", b.name, r)
			}
		}
	}
}

// TestNoTextIsMadeOfNothing: format gives a text even where its values are NULL,
// so that coalesce around it never leaves it out, and people read "by NULL".
func TestNoTextIsMadeOfNothing(t *testing.T) {
	for _, b := range bodies(t) {
		require.NotContains(t, b.sql, "coalesce(format(", b.name)
	}
}

func TestErrorCatalogueIsComplete(t *testing.T) {
	var known, raised []string
	for _, c := range procs.ErrorCodes {
		known = append(known, c.SQLState)
		require.NotEmpty(t, c.Name)
		require.NotEmpty(t, c.Meaning)
		require.NotEmpty(t, c.Remedy)
	}
	for _, b := range bodies(t) {
		for _, r := range raise.FindAllString(b.sql, -1) {
			for _, m := range state.FindAllStringSubmatch(r, -1) {
				raised = append(raised, m[1])
			}
		}
	}
	slices.Sort(raised)
	require.Equal(t, known, slices.Compact(raised), "each SQLSTATE of the catalogue is raised, and no other")
}
