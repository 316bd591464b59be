package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/runner"
)

func newDiscardCommand(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "discard TASK RUN_KEY",
		Short: "Give up a run and drop what it staged",
		Long: `Drops what a run staged; its run key is free again. The live tables are not
touched. A run that is publishing needs --force: what it has published so far
stays, so that the live tables hold a part of it.`,
		Example: `  cs9gen discard rebuild_counts "week 40"`,
		Args:    takes("TASK", "RUN_KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			task, runKey := args[0], args[1]
			return a.withRunner(cmd, func(ctx context.Context, r *runner.Runner) error {
				if err := r.Discard(ctx, task, runKey, force); err != nil {
					err = advise(err, runner.ErrRunUnknown, listHint)
					return advise(err, runner.ErrNotReady, "finish it with "+command("publish", task, runKey)+", or give it up with --force and leave the part")
				}
				if a.json {
					return a.printJSON(map[string]string{"task": task, "run_key": runKey, "outcome": "discarded"})
				}
				return a.printf("discarded run %q of task %q\n", runKey, task)
			})
		},
	}
	a.addDatabaseFlag(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "give up a run that is publishing too")
	return cmd
}
