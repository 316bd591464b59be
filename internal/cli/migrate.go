package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/internal/migrate"
)

// migrations are what migrate up and down report.
type migrations struct {
	Direction string          `json:"direction"` // up, down
	Steps     []migrationStep `json:"steps"`
}

type migrationStep struct {
	Version      int64  `json:"version"`
	File         string `json:"file"`
	Milliseconds int64  `json:"milliseconds"`
}

// migrationStatus is one row of what migrate status reports.
type migrationStatus struct {
	Version   int64      `json:"version"`
	File      string     `json:"file,omitempty"`
	State     string     `json:"state"`
	AppliedAt *time.Time `json:"applied_at,omitempty"`
}

func newMigrateCommand(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Apply migrations, take them back, show which are applied",
		Long: `Applies a folder of goose migrations. What is applied is kept in goose's own
table, goose_db_version, so that stock goose can be used instead at any time.`,
		Example: "  cs9gen migrate up\n  cs9gen migrate status",
		Args:    cobra.ArbitraryArgs,
		RunE:    needsSubcommand,
	}
	cmd.PersistentFlags().StringVar(&dir, "migrations", defaultFolder, "the folder of migrations")
	a.addDatabaseFlag(cmd.PersistentFlags())
	cmd.AddCommand(newMigrateUpCommand(a, &dir), newMigrateDownCommand(a, &dir), newMigrateStatusCommand(a, &dir))
	return cmd
}

func newMigrateUpCommand(a *app, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Apply all pending migrations",
		Long: `Applies all pending migrations, each in a transaction of its own unless the file
says NO TRANSACTION: after an error those before it stay applied. Two at once are
safe, the second waits.`,
		Example: "  cs9gen migrate up --migrations db/migrations",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMigrator(cmd, *dir, func(ctx context.Context, m *migrate.Migrator) error {
				steps, err := m.Up(ctx)
				return a.reportSteps("up", steps, err)
			})
		},
	}
}

func newMigrateDownCommand(a *app, dir *string) *cobra.Command {
	var to int64
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Take the last migration back",
		Long: `Takes the last migration back, or all that are above a version. This drops the
tables and columns that a migration made, with what they hold; a table that it
adopted stays. Nothing is taken back, with an error, while a run that writes to
the table is unfinished.`,
		Example: "  cs9gen migrate down\n  cs9gen migrate down --to 3",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to < 0 || to == math.MaxInt64 {
				return wrongUse(cmd, fmt.Errorf("--to is %d: name the version to go back to, 0 for none", to))
			}
			return a.withMigrator(cmd, *dir, func(ctx context.Context, m *migrate.Migrator) error {
				if cmd.Flags().Changed("to") {
					steps, err := m.DownTo(ctx, to)
					return a.reportSteps("down", steps, err)
				}
				steps, err := m.Down(ctx)
				return a.reportSteps("down", steps, err)
			})
		},
	}
	cmd.Flags().Int64Var(&to, "to", 0, "take all back that are above this version; 0 takes all")
	return cmd
}

func newMigrateStatusCommand(a *app, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show which migrations are applied",
		Example: "  cs9gen migrate status --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMigrator(cmd, *dir, func(ctx context.Context, m *migrate.Migrator) error {
				list, err := m.Status(ctx)
				if err != nil {
					return err
				}
				return a.reportStatus(list)
			})
		},
	}
}

// withMigrator calls do with the migrations of dir and the database of the command.
func (a *app) withMigrator(cmd *cobra.Command, dir string, do func(context.Context, *migrate.Migrator) error) error {
	cfg, err := a.poolConfig(cmd)
	if err != nil {
		return err
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "cs9gen migrate"
	}
	m, err := migrate.Open(cfg.ConnConfig, dir)
	if err != nil {
		return advise(err, migrate.ErrNoMigrations, "cs9gen generate writes them; --migrations names their folder")
	}
	m.Waiting = func(session string) {
		a.remark("another session is migrating this database: waiting up to %s for %s", m.Wait, session)
	}
	m.Said = func(said migrate.Message) {
		a.remark("%s: %s", said.Severity, said.Text)
		if said.Detail != "" {
			a.remark("detail: %s", said.Detail)
		}
		if said.Hint != "" {
			a.remark("hint: %s", said.Hint)
		}
	}
	return errors.Join(do(cmd.Context(), m), m.Close())
}

// reportSteps tells what was done, and then of the error: what was done stays.
func (a *app) reportSteps(direction string, steps []migrate.Step, failure error) error {
	if failure != nil && len(steps) == 0 {
		return failure
	}
	report := migrations{Direction: direction, Steps: []migrationStep{}}
	for _, s := range steps {
		report.Steps = append(report.Steps, migrationStep{Version: s.Version, File: s.File, Milliseconds: s.Duration.Milliseconds()})
	}
	if a.json {
		return errors.Join(a.printJSON(report), failure)
	}
	return errors.Join(a.print(report.String()), failure)
}

func (m migrations) String() string {
	done, nothing := "applied", "nothing to apply: all migrations are applied\n"
	if m.Direction == "down" {
		done, nothing = "taken back", "nothing to take back\n"
	}
	if len(m.Steps) == 0 {
		return nothing
	}
	var t table
	for _, s := range m.Steps {
		t.add(done, s.File, fmt.Sprintf("%d ms", s.Milliseconds))
	}
	return t.String()
}

func (a *app) reportStatus(list []migrate.Status) error {
	rows := []migrationStatus{}
	t := table{head: []string{"VERSION", "STATE", "APPLIED AT", "FILE"}}
	for _, s := range list {
		row := migrationStatus{Version: s.Version, File: s.File, State: string(s.State)}
		at := ""
		if !s.AppliedAt.IsZero() {
			row.AppliedAt, at = &s.AppliedAt, instant(s.AppliedAt)
		}
		rows = append(rows, row)
		t.add(s.Version, s.State, orDash(at), orDash(s.File))
	}
	if a.json {
		return a.printJSON(rows)
	}
	return a.print(t.String())
}
