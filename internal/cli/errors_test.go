package cli

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// TestMissingPrivilegeSaysWhoseItIs: PostgreSQL's own error has no hint, one of
// the routines of cs9 keeps its own.
func TestMissingPrivilegeSaysWhoseItIs(t *testing.T) {
	denied := &pgconn.PgError{Code: "42501", Message: "permission denied for schema cs9"}
	f := describe(fmt.Errorf("list runs: %w", denied))
	require.Equal(t, "permission denied for schema cs9", f.Message)
	require.Contains(t, f.Hint, "roles: {runner: ..., publisher: ...}")

	denied.Hint = "Ask the owner."
	require.Equal(t, "Ask the owner.", describe(denied).Hint)
}

// TestErrorsCannotSteerATerminal: a name, or a message of the server, is text of
// others. It takes no line of the report that it could fake.
func TestErrorsCannotSteerATerminal(t *testing.T) {
	for name, err := range map[string]error{
		"a task's name":       fmt.Errorf("task %s is unknown", "x\x1b[2J\u202e\nhint: run rm"),
		"a server's message":  &pgconn.PgError{Message: "no\r\x1b]0;title\a\nhint: run rm", Detail: "row\n\x9bhint: run rm", Hint: "do\u200b this\ncs9gen: fine"},
		"a definition's name": failed("look\nhint: run rm", "table \u2028 %s", "a\b\b\b"),
	} {
		var out strings.Builder
		(&app{stderr: &out}).report(err)
		for _, c := range out.String() {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Errorf("%s: %q holds %q", name, out.String(), c)
			}
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "hint: run rm") {
				t.Errorf("%s: a hint of its own: %q", name, out.String())
			}
		}
	}
}
