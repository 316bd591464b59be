package sqlgen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// TestThirtyChanges takes a database with rows through thirty changes of its
// definitions, one after another: up, down and up again, and at the end all the
// way down and up, with runs that are published in between.
func TestThirtyChanges(t *testing.T) {
	t.Parallel()
	h := generateHistory(t, writeHistory(t, "../testdata/history.txtar"), sqlgen.ChangeOptions{AllowDestroy: []string{"all"}})
	require.Len(t, h.steps, 1+30)
	for i, written := range h.written {
		require.NotEmpty(t, written, h.steps[i])
	}
	h.testDatabase(t)
}

// writeHistory writes each definition of a history to a file, and returns their
// folder. The archive says what it holds.
func writeHistory(t *testing.T, path string) string {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	dir, text := t.TempDir(), ""
	for i, step := range archive.Files {
		if i == 0 {
			text = string(step.Data)
		} else {
			text = edited(t, text, step)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, step.Name+".yaml"), []byte(text), 0o600))
	}
	return dir
}

// edited makes the edits of a step in a text. What is replaced must be there once.
func edited(t *testing.T, text string, step txtar.File) string {
	t.Helper()
	for edit := range strings.SplitSeq(strings.TrimRight(string(step.Data), "\n"), "\n\n") {
		old, replacement, found := strings.Cut(edit, "\n=>")
		if !found {
			text += edit + "\n"
			continue
		}
		require.Equal(t, 1, strings.Count(text, old), "%s: %q in\n%s", step.Name, old, text)
		if replacement == "" {
			old += "\n"
		}
		text = strings.Replace(text, old, strings.TrimPrefix(replacement, "\n"), 1)
	}
	return text
}
