package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/internal/check"
	"github.com/cs9gen/cs9gen/internal/migrate"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// checked is what check reports.
type checked struct {
	Folder      string       `json:"folder"`
	Database    string       `json:"database,omitempty"` // what it was compared with; "" when it was not
	Differences []difference `json:"differences"`
	Dropped     []string     `json:"dropped,omitempty"` // scratch databases that an earlier check left
}

type difference struct {
	Object   string `json:"object"`
	Aspect   string `json:"aspect,omitempty"`
	Expected string `json:"expected"` // "" for nothing
	Found    string `json:"found"`    // "" for nothing
	Diff     string `json:"diff,omitempty"`
}

// checkFlags are the flags of check.
type checkFlags struct {
	definitions           []string
	migrations            string
	database              bool
	scratchURL, scratchIn string
}

func newCheckCommand(a *app) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Compare migrations with definitions, and a database with migrations; for CI",
		Long: `Compares the migrations and cs9gen.lock with the definitions: exit code 5, and a
line for each difference, when generate would write anything, or when a file was
edited, removed or renumbered. Any other failure, such as a database that cannot
be reached, is exit code 1. Nothing is written, and no database is needed.

With --database, or --database-url, it also compares what is installed with what
the migrations make of an empty database: tables, columns, constraints, indexes,
partitions, triggers, routines, views, owners, grants, comments, and what is
registered. That scratch database is created on the same server, and dropped, and
with it those that a check which was killed left over: the role needs CREATEDB
there. --scratch-url names another server for it, of the same major version. The
database that is checked is only read.

Tables that the migrations adopt are made in the scratch database as their
definitions say; what such a table has besides is not looked at. What no
definition says goes into a file for --scratch-sql: types, functions and
extensions that the tables need, and tables without a definition that foreign
keys reference.`,
		Example: `  cs9gen check
  cs9gen check --database --json
  cs9gen check --database-url postgres://reader@db/prod --scratch-url postgres://postgres@localhost/postgres`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.definitions, "definitions", []string{"definitions"}, "a folder of definition files, or one file; may be repeated")
	flags.StringVar(&f.migrations, "migrations", defaultFolder, "the folder of migrations, and of cs9gen.lock")
	flags.BoolVar(&f.database, "database", false, "check the database too that DATABASE_URL or the PG* variables name")
	flags.StringVar(&a.databaseURL, databaseFlag, "", "check this database too")
	flags.StringVar(&f.scratchURL, "scratch-url", "", "where the scratch database is created; else on the server of the database")
	flags.StringVar(&f.scratchIn, "scratch-sql", "", "a file of SQL that is run in the scratch database first: types, functions, extensions and other tables that the migrations need and no definition says")
	return cmd
}

func (a *app) check(cmd *cobra.Command, f checkFlags) error {
	withDatabase := f.database || cmd.Flags().Changed(databaseFlag)
	for _, name := range []string{"scratch-url", "scratch-sql"} {
		if cmd.Flags().Changed(name) && !withDatabase {
			return wrongUse(cmd, fmt.Errorf("--%s is for --database or --%s", name, databaseFlag))
		}
	}
	defs, err := loadDefinitions(f.definitions)
	if err != nil {
		return err
	}
	folder, err := sqlgen.CheckFolder(f.migrations, defs)
	if err != nil {
		return err
	}
	report := checked{Folder: f.migrations, Differences: []difference{}}
	found, looked := folder.Differences, false
	if withDatabase && !folder.Broken {
		installed, name, err := a.checkDatabase(cmd, f, defs.Tables, func(database string) {
			report.Dropped = append(report.Dropped, database)
			if !a.json {
				a.note("note: dropped %s, the scratch database of a check that was killed\n", database)
			}
		})
		if looked = !errors.Is(err, migrate.ErrNoMigrations); looked && err != nil {
			return err
		}
		found, report.Database = append(found, installed...), name
	}
	for _, d := range found {
		report.Differences = append(report.Differences, difference(d))
	}
	if err := a.printChecked(report, found); err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	var hints []string
	if withDatabase && !looked {
		hints = append(hints, "repair the folder of migrations first, the database was not looked at")
	}
	if len(folder.Differences) > 0 {
		hints = append(hints, "cs9gen generate writes what is missing, and a file that was edited or removed comes from version control")
	}
	if len(found) > len(folder.Differences) {
		hints = append(hints, "migrate, or take the change in the database back; what is to stay goes into the definitions, or into a migration of your own")
	}
	return &failure{Message: count(int64(len(found)), "difference") + " found", Hint: strings.Join(hints, "; "), ExitCode: exitDiffers}
}

// checkDatabase compares the database of the command with the folder, and
// returns its name too.
func (a *app) checkDatabase(cmd *cobra.Command, f checkFlags, tables []sqlgen.Table, leftOver func(string)) ([]sqlgen.Difference, string, error) {
	cfg, err := a.poolConfig(cmd)
	if err != nil {
		return nil, "", err
	}
	options := check.Options{Folder: f.migrations, Tables: tables, LeftOver: leftOver}
	if cmd.Flags().Changed("scratch-url") {
		if f.scratchURL == "" {
			return nil, "", wrongUse(cmd, errors.New("--scratch-url is empty"))
		}
		if options.Scratch, err = pgx.ParseConfig(f.scratchURL); err != nil {
			return nil, "", badURL("--scratch-url", f.scratchURL, err)
		}
		if passwordInHost(options.Scratch) {
			return nil, "", badURL("--scratch-url", f.scratchURL, nil)
		}
		named(options.Scratch)
	}
	if f.scratchIn != "" {
		text, err := os.ReadFile(f.scratchIn)
		if err != nil {
			return nil, "", fmt.Errorf("read --scratch-sql: %w", err)
		}
		options.SetupSQL = string(text)
	}
	named(cfg.ConnConfig)
	found, err := check.Database(cmd.Context(), cfg.ConnConfig, options)
	if err != nil {
		return nil, "", adviseCheck(err)
	}
	c := cfg.ConnConfig
	return found, fmt.Sprintf("%s at %s:%d", c.Database, c.Host, c.Port), nil
}

func named(cfg *pgx.ConnConfig) {
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "cs9gen check"
	}
}

// adviseCheck says what to do where the comparison could not be made.
func adviseCheck(err error) error {
	var connecting *pgconn.ConnectError
	if errors.Is(err, context.Canceled) || errors.As(err, &connecting) {
		return err
	}
	for _, known := range []struct {
		is   error
		hint string
	}{
		{check.ErrNoScratch, "let the role create databases (ALTER ROLE … CREATEDB), or let --scratch-url name a server of the same major version where one may, such as that of CI's tests; without --database the files are compared alone"},
		{check.ErrOtherVersion, "each version writes definitions in a way of its own: let --scratch-url name a server of the same major version"},
		{check.ErrNotRepeatable, "what the migrations need and do not make, such as a type, an extension, or a table without a definition that a foreign key refers to, goes into a file of SQL that --scratch-sql names"},
		{check.ErrSetup, "correct the file that --scratch-sql names: it holds SQL alone, no command of psql (\\restrict, as pg_dump writes it)"},
		{check.ErrMayNotRead, "grant the role SELECT on goose_db_version, cs9.schema_version and cs9.table_definition, and USAGE of schema cs9"},
	} {
		if errors.Is(err, known.is) {
			return failed(known.hint, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return err
}

// printChecked prints the report: a line for each difference, and under it the
// diff of a definition.
func (a *app) printChecked(report checked, found []sqlgen.Difference) error {
	if a.json {
		return a.printJSON(report)
	}
	var b strings.Builder
	for _, d := range found {
		b.WriteString(short(plain(d.String()), 400) + "\n")
		for line := range strings.Lines(d.Diff) {
			b.WriteString("    " + plain(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	if len(found) == 0 {
		fmt.Fprintf(&b, "%s is what the definitions give\n", report.Folder)
		if report.Database != "" {
			fmt.Fprintf(&b, "database %s is what %s gives\n", plain(report.Database), report.Folder)
		}
	}
	return a.print(b.String())
}
