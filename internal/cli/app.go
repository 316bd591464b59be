// Package cli is the command line of cs9gen: one file for each command, which
// reads its arguments, calls the package that does the work, and prints what
// came of it. What is published, and when, is decided in the database.
package cli

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string

	databaseURL string // the flag; see connect.go
	json        bool   // reports and errors are JSON
}

// commands are the subcommands of cs9gen.
var commands = []func(*app) *cobra.Command{
	newInitCommand,
	newGenerateCommand,
	newCheckCommand,
	newSchemaCommand,
	newInspectCommand,
	newMigrateCommand,
	newPublishCommand,
	newRunsCommand,
	newShowCommand,
	newDiscardCommand,
	newDemoCommand,
	newVersionCommand,
}

// Run runs the command line args (without the program's name) and returns the
// exit code: see the constants. env looks an environment variable up; those
// that begin with PG are read by the driver itself, from the process.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	root := a.newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	// an error in the arguments may come before the flag is read
	a.json = a.json || slices.Contains(args, "--json")
	return a.report(err)
}

func (a *app) newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "cs9gen",
		Short: "Rebuild tables in PostgreSQL without readers seeing a part",
		Long: `cs9gen turns table definitions into goose migrations, applies them, and
publishes and shows the runs that stage rows for these tables.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 refused because another run of the
task is alive, 4 the publish stopped and can be resumed, 5 check found a
difference.`,
		Version: sqlgen.Version,
		Example: `  cs9gen init
  cs9gen generate
  cs9gen migrate up
  cs9gen runs`,
		Args:              cobra.ArbitraryArgs,
		RunE:              needsSubcommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(wrongUse)
	root.SetVersionTemplate(versionOf().String())
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print reports and errors as JSON")
	for _, newCommand := range commands {
		root.AddCommand(newCommand(a))
	}
	return root
}
