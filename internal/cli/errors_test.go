package cli

import (
	"fmt"
	"testing"

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
