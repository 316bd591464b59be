package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestEachCommandHasHelp holds the help to its form: a short line, and an
// example that the command itself takes.
func TestEachCommandHasHelp(t *testing.T) {
	root := (&app{stdout: io.Discard, stderr: io.Discard}).newRootCommand()
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.False(t, strings.HasSuffix(cmd.Short, "."), cmd.CommandPath())
		require.NotEmpty(t, cmd.Example, cmd.CommandPath())
		for line := range strings.Lines(cmd.Example) {
			require.True(t, strings.HasPrefix(line, "  cs9gen "), line)
			line, _, _ = strings.Cut(line, "|")
			words := strings.Fields(strings.ReplaceAll(line, `"week 40"`, "week40"))
			found, rest, err := (&app{}).newRootCommand().Find(words[1:])
			require.NoError(t, err, line)
			require.NoError(t, found.ParseFlags(rest), line)
			require.NoError(t, found.ValidateArgs(found.Flags().Args()), line)
		}
	}
	visit(root)
}
