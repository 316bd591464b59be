package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// inspection is what inspect reports to programs.
type inspection struct {
	Tables      []string        `json:"tables"`
	LeftOut     []leftOut       `json:"left_out"`
	Notes       []inspectedNote `json:"notes"`
	Out         string          `json:"out,omitempty"`
	Definitions string          `json:"definitions,omitempty"` // the file, unless it was written to out
}

type leftOut struct {
	Table  string `json:"table"`
	Reason string `json:"reason"`
}

type inspectedNote struct {
	Table string `json:"table"`
	Note  string `json:"note"`
}

func newInspectCommand(a *app) *cobra.Command {
	var options inspect.Options
	var out string
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Write definitions of tables that a database has",
		Long: `Reads tables of a database, and writes a definition file for them. It changes
nothing in the database. Review the file, put it among your definitions, and
generate.

A table that cs9gen does not know yet gets "adopt: true": its migration makes
only what cs9gen needs besides it. What a definition cannot say is told on
standard error, a line each: a note for what stays as it is, and "left out" for a
table that cannot be taken, which makes the exit code 1.`,
		Example: `  cs9gen inspect --schema public --out definitions/public.yaml
  cs9gen inspect --schema public --table film --table actor
  cs9gen inspect --schema public --json | jq .left_out`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.inspect(cmd, options, out) },
	}
	a.addDatabaseFlag(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&options.Schema, "schema", "", "the schema, as it is, without quotes")
	flags.StringArrayVar(&options.Tables, "table", nil, "only this table of the schema, as it is, without quotes; may be repeated")
	flags.StringVar(&out, "out", "", "write the definitions to this new file instead of standard output")
	return cmd
}

func (a *app) inspect(cmd *cobra.Command, options inspect.Options, out string) error {
	if options.Schema == "" {
		return wrongUse(cmd, errors.New("--schema is missing"))
	}
	if cmd.Flags().Changed("out") && out == "" {
		return wrongUse(cmd, errors.New("--out is empty"))
	}
	cfg, err := a.poolConfig(cmd)
	if err != nil {
		return err
	}
	if out != "" {
		if _, err := os.Lstat(out); err == nil {
			return failed("remove it, or name another file", "%s is there already, and is not written over", out)
		}
	}
	conn, err := pgx.ConnectConfig(cmd.Context(), cfg.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	result, err := inspect.Inspect(cmd.Context(), conn, options)
	if err = errors.Join(err, conn.Close(cmd.Context())); err != nil {
		return adviseInspect(err)
	}
	if out != "" && result.File != nil {
		if err := writeNew(out, string(result.File)); err != nil {
			return err
		}
	}
	if err := a.reportInspection(result, out); err != nil {
		return err
	}
	switch {
	case len(result.LeftOut) > 0:
		return failed("change them as the lines say and inspect again, or name those that you want by --table",
			"%s cannot be taken", count(int64(len(tablesOf(result.LeftOut))), "table"))
	case len(result.Tables) == 0:
		return failed("name another schema by --schema", "there is no table in the schema %s", sqlgen.QuoteIdent(options.Schema))
	}
	return nil
}

func adviseInspect(err error) error {
	err = advise(err, inspect.ErrUnknown, "names are taken as they are, in their letter case and without quotes")
	return advise(err, inspect.ErrReserved, "name a schema of your own")
}

// reportInspection prints the definitions, and what they do not say.
func (a *app) reportInspection(r *inspect.Result, out string) error {
	if a.json {
		return a.printJSON(inspectionOf(r, out))
	}
	for _, n := range r.Notes {
		a.note("note: %s: %s\n", n.Table, n.Text)
	}
	for _, l := range r.LeftOut {
		a.note("left out: %s: %s\n", l.Table, l.Text)
	}
	switch {
	case r.File == nil:
		return nil
	case out == "":
		return a.print(string(r.File))
	}
	return a.printf("wrote %s: %s\nnext: review it, then cs9gen generate\n", out, count(int64(len(r.Tables)), "table"))
}

func inspectionOf(r *inspect.Result, out string) inspection {
	report := inspection{Tables: []string{}, LeftOut: []leftOut{}, Notes: []inspectedNote{}}
	for _, t := range r.Tables {
		report.Tables = append(report.Tables, sqlgen.Qualified(t.Schema, t.Name))
	}
	for _, l := range r.LeftOut {
		report.LeftOut = append(report.LeftOut, leftOut{l.Table, l.Text})
	}
	for _, n := range r.Notes {
		report.Notes = append(report.Notes, inspectedNote{n.Table, n.Text})
	}
	switch {
	case r.File == nil:
	case out == "":
		report.Definitions = string(r.File)
	default:
		report.Out = out
	}
	return report
}

// tablesOf returns the tables that remarks are about, each once.
func tablesOf(remarks []inspect.Remark) map[string]bool {
	out := map[string]bool{}
	for _, r := range remarks {
		out[r.Table] = true
	}
	return out
}
