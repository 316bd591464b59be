package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/runner"
	"github.com/cs9gen/cs9gen/sqlgen"
)

// versions are what the version command reports.
type versions struct {
	Version       string `json:"version"`
	SchemaVersion int    `json:"schema_version"` // of the cs9 schema that it works with
	Go            string `json:"go"`
	Revision      string `json:"revision,omitempty"`
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the version of cs9gen and of the cs9 schema that it works with.",
		Example: "  cs9gen version --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := versionOf()
			if a.json {
				return a.printJSON(v)
			}
			return a.print(v.String())
		},
	}
}

// versionOf returns the versions of this program.
func versionOf() versions {
	v := versions{Version: sqlgen.Version, SchemaVersion: runner.SchemaVersion}
	if build, ok := debug.ReadBuildInfo(); ok {
		v.Go = build.GoVersion
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}

func (v versions) String() string {
	return fmt.Sprintf("cs9gen %s (cs9 schema %d, %s)\n", v.Version, v.SchemaVersion, v.Go)
}
