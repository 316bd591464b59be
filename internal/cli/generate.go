package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// generation is what generate reports.
type generation struct {
	DryRun bool            `json:"dry_run"`
	Files  []generatedFile `json:"files"`
}

type generatedFile struct {
	File  string `json:"file"`
	State string `json:"state"` // new, unchanged
}

func newGenerateCommand(a *app) *cobra.Command {
	var definitions []string
	var out string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Turn table definitions into goose migrations",
		Long: `Writes the migrations of the cs9 schema, and one for each table that has none
yet, with the next number. A migration that is there is never changed: when the
definitions would change one, nothing is written and the command fails.`,
		Example: `  cs9gen generate
  cs9gen generate --definitions shared --definitions tables/more.yaml --out db/migrations
  cs9gen generate --dry-run`,
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return a.generate(definitions, out, dryRun) },
	}
	cmd.Flags().StringArrayVar(&definitions, "definitions", []string{"definitions"}, "a folder of definition files, or one file; may be repeated")
	cmd.Flags().StringVar(&out, "out", "migrations", "the folder of migrations")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "list the files, write nothing")
	return cmd
}

func (a *app) generate(definitions []string, out string, dryRun bool) error {
	defs, err := sqlgen.Load(definitions...)
	if err != nil {
		return err
	}
	files, err := sqlgen.Generate(defs)
	if err != nil {
		return err
	}
	planned, err := sqlgen.Plan(out, files)
	if err != nil {
		return advise(err, sqlgen.ErrFileDiffers,
			"a migration may have been applied, so it is never changed: undo the change of the file or of its definition, or remove the file if it was never applied")
	}
	if !dryRun {
		if _, err := sqlgen.Write(out, planned); err != nil {
			return err
		}
	}
	report := generation{DryRun: dryRun, Files: []generatedFile{}}
	for _, p := range planned {
		state := "new"
		if p.Exists {
			state = "unchanged"
		}
		report.Files = append(report.Files, generatedFile{File: filepath.Join(out, p.Name), State: state})
	}
	if a.json {
		return a.printJSON(report)
	}
	return a.print(report.String())
}

func (g generation) String() string {
	var t table
	created := 0
	for _, f := range g.Files {
		t.add(f.State, f.File)
		if f.State == "new" {
			created++
		}
	}
	switch {
	case created == 0:
		return t.String() + "nothing changes\n"
	case g.DryRun:
		return t.String() + fmt.Sprintf("%s would be written\n", count(int64(created), "file"))
	}
	return t.String() + fmt.Sprintf("%s written\nnext: cs9gen migrate up\n", count(int64(created), "file"))
}
