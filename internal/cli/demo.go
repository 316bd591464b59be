package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/internal/demo"
)

func newDemoCommand(a *app) *cobra.Command {
	var options demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what readers see: a success, a failure, its retry, a publish that is killed and resumed",
		Long: `Runs a task of three plans on a small table, four times: to success; with a plan
that fails; again with the same run key; and with a publish that is killed after
its first batch, and resumed. At each step it prints what a reader sees and what
is staged, checks that against what cs9gen promises, and draws it in demo.png
and demo.svg. It fails when one promise is not kept.

It starts a PostgreSQL server of its own, unless --database-url names a
database: there it makes a schema anon_demo, and removes it at the end.
DATABASE_URL and the PG* variables are not looked at.`,
		Example: `  cs9gen demo
  cs9gen demo --out charts --json`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd, options) },
	}
	cmd.Flags().StringVar(&options.OutDir, "out", "demo-output", "the folder for demo.png and demo.svg")
	cmd.Flags().StringVar(&a.databaseURL, databaseFlag, "", "a database to work in, instead of a server of the demo's own")
	return cmd
}

func (a *app) demo(cmd *cobra.Command, options demo.Options) (err error) {
	if cmd.Flags().Changed(databaseFlag) {
		if options.Database, err = a.poolConfig(cmd); err != nil {
			return err
		}
	}
	report, err := demo.Run(cmd.Context(), options)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		var text strings.Builder
		if err = report.Print(&text); err == nil {
			err = a.print(text.String())
		}
	}
	if err != nil {
		return err
	}
	return report.Err()
}
