package procs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writing are the calls of docs/sql-interface.md that write, by routine.
var writing = map[string]string{
	"publish":          "CALL cs9.publish('t', 'k')",
	"join_publish":     "CALL cs9.join_publish('t', 'k')",
	"table_publish":    "CALL anon.anon_rebuild_counts_publish('t', 'k')",
	"claim_run":        "SELECT cs9.claim_run('t', 'k')",
	"begin_run":        "SELECT cs9.begin_run('t', 'k', '{anon.anon_rebuild_counts}', '[1, 2, 3]')",
	"begin_plan":       "SELECT cs9.begin_plan(1, 1, 1)",
	"finish_plan":      "SELECT cs9.finish_plan(1, 1, 1)",
	"next_plan":        "SELECT cs9.next_plan(1, 1, 1, 0, 2)",
	"fail_plan":        "SELECT cs9.fail_plan(1, 1, 1, 'an error')",
	"staging_table":    "SELECT cs9.staging_table(1, 'anon.anon_rebuild_counts')",
	"drop_all_rows":    "SELECT cs9.drop_all_rows('anon.anon_rebuild_counts')",
	"drop_rows_where":  "SELECT cs9.drop_rows_where('anon.anon_rebuild_counts', 'week = 1')",
	"keep_rows_where":  "SELECT cs9.keep_rows_where('anon.anon_rebuild_counts', 'week = 1')",
	"finish_run":       "SELECT cs9.finish_run(1, 1)",
	"end_attempt":      "SELECT cs9.end_attempt(1, 1, 'an error')",
	"set_publish_mode": "SELECT cs9.set_publish_mode('t', 'k', 'atomic')",
	"discard_run":      "SELECT cs9.discard_run('t', 'k')",
	"delete_rows":      "SELECT cs9.delete_rows('anon.anon_rebuild_counts', 'all')",
}

// notWriting are the others.
var notWriting = map[string]bool{"release_run": true, "may_publish": true}

func TestEachCallThatWritesSaysWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.begin("k")
	s.plan(1, dropAll, insert1)
	require.True(t, s.plan(2))
	require.NoError(t, s.try("SELECT cs9.begin_plan($1, 3, $2)", s.run, s.attempt))
	before := s.runState("k")
	for how, wrap := range map[string][2]string{
		"a read-only session":     {"SET default_transaction_read_only = on", "SET default_transaction_read_only = off"},
		"a read-only transaction": {"BEGIN READ ONLY; SAVEPOINT s", "ROLLBACK"},
	} {
		s.exec(wrap[0])
		for routine, call := range writing {
			if strings.HasPrefix(call, "CALL") && strings.HasPrefix(wrap[0], "BEGIN") {
				continue // a CALL that commits is refused inside any transaction
			}
			err := s.refused("S9023", call)
			require.Equal(t, "this session is read-only", err.Message, "%s, %s", how, routine)
			require.Contains(t, err.Hint, "default_transaction_read_only = off")
			if strings.HasPrefix(wrap[0], "BEGIN") {
				s.exec("ROLLBACK TO s")
			}
		}
		s.exec(wrap[1])
	}
	require.Equal(t, before, s.runState("k"))
	require.Equal(t, "resumed", s.begin("k"), "the run goes on")
}

func TestTheListOfCallsThatWriteIsThatOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/sql-interface.md")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(page), "## Procedures that publish")
	text, _, _ = strings.Cut(text, "The names of the parameters begin with")
	found := map[string]bool{"table_publish": true}
	for _, line := range strings.Split(text, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, m := range regexp.MustCompile(`cs9\.(\w+)\(`).FindAllStringSubmatch(cell, -1) {
			found[m[1]] = true
		}
	}
	require.Greater(t, len(found), 15)
	for routine := range found {
		require.True(t, writing[routine] != "" || notWriting[routine], "%s: no test says what it does on a standby", routine)
	}
	for routine := range writing {
		require.True(t, found[routine], routine)
	}
}
