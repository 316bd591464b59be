package runner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Masterminds/squirrel"

	"github.com/cs9gen/cs9gen/runner"
)

// TestNameOfNoTableIsAnError: a name that is misspelt gives a nil handle, which
// says so instead of a panic, whatever is asked of it.
func TestNameOfNoTableIsAnError(t *testing.T) {
	ctx := t.Context()
	handle := runner.Handles{}["misspelt"]
	rows := runner.Rows([]count{{1, "a", 1}})
	for call, do := range map[string]func() error{
		"insert":                        func() error { return handle.Insert(ctx, rows) },
		"upsert":                        func() error { return handle.Upsert(ctx, rows) },
		"drop all rows and then insert": func() error { return handle.DropAllRowsAndThenInsert(ctx, rows) },
		"drop all rows and then upsert": func() error { return handle.DropAllRowsAndThenUpsert(ctx, nil) },
		"drop all rows":                 func() error { return handle.DropAllRows(ctx) },
		"drop rows where":               func() error { return handle.DropRowsWhere(ctx, "week = ?", 1) },
		"keep rows where":               func() error { return handle.KeepRowsWhere(ctx, "week = ?", 1) },
		"query": func() error {
			rows, err := handle.Query(ctx, squirrel.Select("week"))
			if err == nil {
				rows.Close()
			}
			return err
		},
		"count rows":        func() error { _, err := handle.NRow(ctx); return err },
		"count staged rows": func() error { _, err := handle.Staged(ctx); return err },
	} {
		err := do()
		if !errors.Is(err, runner.ErrBadArgument) || !strings.HasPrefix(err.Error(), call+": the task has no table of this name") {
			t.Errorf("%s: %v", call, err)
		}
	}
}
