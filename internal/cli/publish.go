package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/runner"
)

// publication is what publish reports.
type publication struct {
	Outcome       string `json:"outcome"`
	Task          string `json:"task"`
	RunKey        string `json:"run_key"`
	RunID         int64  `json:"run_id"`
	Attempt       int    `json:"attempt"`
	Plans         int    `json:"plans"`
	RowsStaged    int64  `json:"rows_staged"`
	RowsPublished int64  `json:"rows_published"`
}

// publishFlags are the flags of publish.
type publishFlags struct {
	mode        string
	movers      int
	batchRows   int
	lockTimeout time.Duration
	lockRetries int
}

func newPublishCommand(a *app) *cobra.Command {
	var flags publishFlags
	cmd := &cobra.Command{
		Use:   "publish TASK RUN_KEY",
		Short: "Publish a run, or the rest of one whose publish stopped",
		Long: `Publishes a run whose plans are all done. Batched tables are moved first, with a
commit after each batch; then all others in one transaction. When it stops, with
exit code 4, what it has published stays, and the same command publishes the
rest. With a run that is published already there is nothing to do: exit code 0.

Modes: batched moves rows in batches, and readers see the table grow; atomic
changes only the rows that differ, and readers see the old table or the new one;
swap puts what was staged in the place of a partition, likewise; swap_or_atomic
swaps where it can. Without --mode each table is published as its definition
says, or as its run asked for. A table of several partitions is staged for
batched or for swap, and can change to atomic only. A publish that has begun goes
on in its mode.`,
		Example: `  cs9gen publish rebuild_counts "week 40"
  cs9gen publish rebuild_counts "week 40" --mode atomic
  cs9gen publish rebuild_counts "week 40" --movers 4
  cs9gen publish rebuild_counts "week 40" --batch-rows 50000 --lock-timeout 500ms --lock-retries 20`,
		Args: takes("TASK", "RUN_KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return wrongUse(cmd, err)
			}
			return a.publish(cmd, flags, args[0], args[1])
		},
	}
	a.addDatabaseFlag(cmd.Flags())
	cmd.Flags().StringVar(&flags.mode, "mode", "", "how to publish all tables of the run: batched, atomic, swap or swap_or_atomic")
	cmd.Flags().IntVar(&flags.movers, "movers", 1, "how many sessions move the rows of batched tables side by side")
	cmd.Flags().IntVar(&flags.batchRows, "batch-rows", 200_000, "how many rows one transaction moves")
	cmd.Flags().DurationVar(&flags.lockTimeout, "lock-timeout", 2*time.Second, "how long to wait for a lock; readers queue behind the wait")
	cmd.Flags().IntVar(&flags.lockRetries, "lock-retries", 5, "how often to try again after that, with pauses")
	return cmd
}

var publishModes = []string{"batched", "atomic", "swap", "swap_or_atomic"}

func (f publishFlags) check() error {
	switch {
	case f.mode != "" && !slices.Contains(publishModes, f.mode):
		return fmt.Errorf("--mode is %q: it must be one of %s", f.mode, strings.Join(publishModes, ", "))
	case f.movers < 1:
		return fmt.Errorf("--movers is %d: it must be 1 or more", f.movers)
	case f.batchRows < 1:
		return fmt.Errorf("--batch-rows is %d: it must be 1 or more", f.batchRows)
	case f.lockTimeout < time.Millisecond:
		return fmt.Errorf("--lock-timeout is %s: it must be 1ms or more", f.lockTimeout)
	case f.lockRetries < 0:
		return fmt.Errorf("--lock-retries is %d: it must be 0 or more", f.lockRetries)
	}
	return nil
}

func (a *app) publish(cmd *cobra.Command, flags publishFlags, task, runKey string) error {
	progress := a.newPublishProgress()
	cfg := &runner.Config{BatchRows: flags.batchRows, LockTimeout: flags.lockTimeout, LockRetries: flags.lockRetries, Progress: progress.tell}
	if cfg.LockRetries == 0 {
		cfg.LockRetries = -1 // to the runner 0 is its default
	}
	r, pool, err := a.openRunner(cmd, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	result, err := r.Publish(cmd.Context(), task, runKey, runner.PublishMode(flags.mode), runner.Movers(flags.movers))
	progress.end()
	if errors.Is(err, runner.ErrPublished) {
		return a.alreadyPublished(cmd.Context(), r, task, runKey)
	}
	if err != nil {
		return publishError(cmd.Context(), r, err, task, runKey, progress.seen)
	}
	if a.json {
		return a.printJSON(publication{
			Outcome: string(result.Outcome), Task: task, RunKey: runKey, RunID: result.RunID, Attempt: result.Attempt,
			Plans: result.Plans, RowsStaged: result.RowsStaged, RowsPublished: result.RowsPublished,
		})
	}
	if result.Outcome == runner.PublishedRest {
		return a.printf("published the rest of run %q of task %q: %s in all\n", runKey, task, count(result.RowsPublished, "row"))
	}
	return a.printf("published run %q of task %q: %s\n", runKey, task, count(result.RowsPublished, "row"))
}

// alreadyPublished says that there is nothing to do, as a run of the task does.
func (a *app) alreadyPublished(ctx context.Context, r *runner.Runner, task, runKey string) error {
	run, err := r.Show(ctx, task, runKey)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(publication{
			Outcome: string(runner.AlreadyPublished), Task: task, RunKey: runKey, RunID: run.RunID, Attempt: run.Attempt,
			Plans: run.Plans, RowsStaged: run.RowsStaged, RowsPublished: run.RowsPublished,
		})
	}
	return a.printf("run %q of task %q is published already: nothing to do; to do it over, run the task again with runner.Again, or with p_again of cs9.begin_run\n", runKey, task)
}

// stateWait bounds the question for a run's state after its publish failed.
const stateWait = 5 * time.Second

// publishError tells a publish that stopped in the middle from one that did not
// start. The database knows; when it cannot be asked, begun says whether it
// reported a step before.
func publishError(ctx context.Context, r *runner.Runner, err error, task, runKey string, begun bool) error {
	again := command("publish", task, runKey)
	switch {
	case errors.Is(err, runner.ErrRunUnknown):
		return advise(err, runner.ErrRunUnknown, listHint)
	case errors.Is(err, runner.ErrNotReady):
		return advise(err, runner.ErrNotReady, "run the task again with this run key: it does the plans that are left, and publishes; "+command("show", task, runKey)+" shows them")
	case errors.Is(err, runner.ErrRunAlive), errors.Is(err, runner.ErrStagedRewritten), errors.Is(err, runner.ErrDiscarded):
		return err
	case errors.Is(err, runner.ErrPublishStopped):
		return &advised{err: err, exitCode: exitPublishStopped, hint: again + " publishes the rest, when the lock is gone"}
	}
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateWait)
	defer cancel()
	if run, showErr := r.Show(ask, task, runKey); showErr == nil {
		begun = run.State == "publishing"
	}
	if !begun {
		return err
	}
	return &advised{err: err, exitCode: exitPublishStopped, hint: "what is published stays; " + again + " publishes the rest"}
}

// command writes a command line of cs9gen as a shell reads it.
func command(name string, args ...string) string {
	var b strings.Builder
	b.WriteString("cs9gen " + name)
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			b.WriteString(" --")
			break
		}
	}
	for _, arg := range args {
		b.WriteString(" " + shellWord(arg))
	}
	return b.String()
}

func shellWord(s string) string {
	safe := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./:,+@%=", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !safe(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
