package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cs9gen/cs9gen/sqlgen"
)

func newSchemaCommand(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of definition files",
		Long:  "Prints the JSON schema of definition files, with which an editor completes and checks them.",
		Example: `  cs9gen schema --out cs9gen.schema.json
  cs9gen schema | jq .`,
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			text, err := sqlgen.JSONSchema()
			if err != nil {
				return err
			}
			if out == "" {
				return a.print(string(text))
			}
			if err := os.WriteFile(out, text, 0o644); err != nil {
				return fmt.Errorf("write the schema: %w", err)
			}
			if a.json {
				return a.printJSON(map[string]string{"written": out})
			}
			return a.printf("wrote %s\n", out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write it to this file instead")
	return cmd
}
