package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// example is the definition file that init writes.
//
//go:embed example.yaml
var example string

func newInitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write an example definition file",
		Long:  "Writes definitions/tables.yaml, a commented example, into DIR or the current folder.\nA file that is there is never written over.",
		Example: `  cs9gen init
  cs9gen init warehouse`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.init(dir)
		},
	}
}

func (a *app) init(dir string) error {
	path := filepath.Join(dir, "definitions", "tables.yaml")
	if err := writeNew(path, example); err != nil {
		return err
	}
	next := "cs9gen generate"
	if dir != "." {
		next = fmt.Sprintf("cs9gen generate --definitions %s --migrations %s", shellWord(filepath.Dir(path)), shellWord(filepath.Join(dir, defaultFolder)))
	}
	if a.json {
		return a.printJSON(map[string]string{"written": path, "next": next})
	}
	return a.printf("wrote %s\nnext: edit it, then %s\n", path, next)
}

// writeNew writes a file that is not there yet, and makes its folder.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return failed("remove it, or name another place", "%s is there already, and is not written over", path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
