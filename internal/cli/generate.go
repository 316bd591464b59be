package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// generation is what generate reports.
type generation struct {
	DryRun   bool            `json:"dry_run"`
	Files    []generatedFile `json:"files"`
	Hazards  []string        `json:"hazards"`  // of the new files
	Destroys []destroyed     `json:"destroys"` // by the new files, with leave
	lock     bool            // it changes, or would
	apply    string          // the command that applies the files
}

type generatedFile struct {
	File  string `json:"file"`
	State string `json:"state"` // new, unchanged
}

type destroyed struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// defaultFolder is that of the migrations.
const defaultFolder = "migrations"

// generateFlags are the flags of generate.
type generateFlags struct {
	definitions, allow []string
	migrations         string
	dryRun, concurrent bool
}

func newGenerateCommand(a *app) *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Turn table definitions into goose migrations",
		Long: `Writes the migrations of the cs9 schema, one for each new table, and one for all
that changed in the definitions since the last call, as cs9gen.lock beside the
migrations tells. A migration that is there is never changed; a new one gets a
number above all others. Commit the migrations and cs9gen.lock together.

A table or column that has another name now is renamed when its definition says
was: old_name. Otherwise it is a new one, and the old one is dropped.

What a change costs those who use the table meanwhile is listed, and stands in
the file as "-- Hazard: ...". What destroys data (dropping a table, a column or a
partition, or a type that may not hold each value) is refused unless it is named
by --allow-destroy.`,
		Example: `  cs9gen generate
  cs9gen generate --definitions shared --definitions tables/more.yaml --migrations db/migrations
  cs9gen generate --dry-run
  cs9gen generate --allow-destroy anon.counts.region --concurrent-indexes`,
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return a.generate(f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.definitions, "definitions", []string{"definitions"}, "a folder of definition files, or one file; may be repeated")
	flags.StringVar(&f.migrations, "migrations", defaultFolder, "the folder of migrations, and of cs9gen.lock")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list the files, hazards and what is destroyed; write nothing")
	flags.StringArrayVar(&f.allow, "allow-destroy", nil, "let the change destroy this: schema.table, schema.table.column, a partition as schema.partition, or all; may be repeated")
	flags.BoolVar(&f.concurrent, "concurrent-indexes", false, "build indexes of tables that are there in a migration of their own, CONCURRENTLY, outside a transaction")
	return cmd
}

func (a *app) generate(f generateFlags) error {
	defs, err := loadDefinitions(f.definitions)
	if err != nil {
		return err
	}
	change, err := sqlgen.PlanChange(f.migrations, defs, sqlgen.ChangeOptions{AllowDestroy: f.allow, ConcurrentIndexes: f.concurrent})
	if err != nil {
		return adviseChange(err)
	}
	if !f.dryRun {
		if _, err := change.Write(); err != nil {
			return err
		}
	}
	report := generation{DryRun: f.dryRun, Files: []generatedFile{}, Hazards: append([]string{}, change.Hazards...), Destroys: []destroyed{}, lock: change.LockChanges(), apply: "cs9gen migrate up"}
	if f.migrations != defaultFolder {
		report.apply += " --migrations " + shellWord(f.migrations)
	}
	for _, p := range change.Files {
		state := "new"
		if p.Exists {
			state = "unchanged"
		}
		report.Files = append(report.Files, generatedFile{File: filepath.Join(f.migrations, p.Name), State: state})
	}
	for _, d := range change.Destroys {
		report.Destroys = append(report.Destroys, destroyed{d.Name, d.What})
	}
	if a.json {
		return a.printJSON(report)
	}
	return a.print(report.String())
}

// loadDefinitions reads the definitions, and says how to begin where there are none.
func loadDefinitions(paths []string) (*sqlgen.Definitions, error) {
	defs, err := sqlgen.Load(paths...)
	var problems *sqlgen.Problems
	if errors.As(err, &problems) && slices.ContainsFunc(problems.List, isMissing) {
		return nil, &advised{err: err, hint: "cs9gen init writes an example to the folder definitions; --definitions names another folder, or a file"}
	}
	return defs, err
}

// isMissing reports whether a problem is that its file is not there.
func isMissing(p sqlgen.Problem) bool {
	_, err := os.Stat(p.File)
	return p.Line == 0 && errors.Is(err, fs.ErrNotExist)
}

// adviseChange says what to do about a change that is refused.
func adviseChange(err error) error {
	var destroys *sqlgen.DestroyError
	if errors.As(err, &destroys) {
		f := &failure{
			Message:  "the change destroys data, so that nothing was written",
			Hint:     "--allow-destroy with each of the names before the colons lets it; for a new name of the same column or table write was: old_name into the definition",
			ExitCode: exitFailed,
		}
		for _, d := range destroys.List {
			f.Problems = append(f.Problems, d.Name+": "+d.What)
		}
		return f
	}
	err = advise(err, sqlgen.ErrFileDiffers,
		"a migration may have been applied, so it is never changed: restore the file; where there is no cs9gen.lock yet, take the definitions back to what the migrations were made of, generate once, and change them then")
	err = advise(err, sqlgen.ErrLock, "take cs9gen.lock and the migrations from version control as they belong together")
	return advise(err, sqlgen.ErrCannotChange, "take the definition back to what it was, or do as the message says")
}

func (g generation) String() string {
	var b strings.Builder
	created := 0
	for _, f := range g.Files { // those that stay as they are grow over the years, and say nothing
		if f.State == "new" {
			created++
			fmt.Fprintf(&b, "new  %s\n", f.File)
		}
	}
	for _, d := range g.Destroys {
		fmt.Fprintf(&b, "destroys %s: %s\n", plain(d.Name), plain(d.What))
	}
	for _, hazard := range g.Hazards {
		fmt.Fprintf(&b, "hazard: %s\n", plain(hazard))
	}
	switch {
	case created == 0 && !g.lock:
		b.WriteString("nothing changes\n")
	case created == 0 && g.DryRun:
		b.WriteString("nothing changes but " + sqlgen.LockName + ", which would be written\n")
	case created == 0:
		b.WriteString("nothing changes but " + sqlgen.LockName + ", which was written\n")
	case g.DryRun:
		fmt.Fprintf(&b, "%s would be written\n", count(int64(created), "file"))
	default:
		fmt.Fprintf(&b, "%s written\nnext: %s\n", count(int64(created), "file"), g.apply)
	}
	return b.String()
}
