package standby

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThePageNamesTheTestsThatTryIt holds docs/operations.md and the tests
// together: each row names tests that exist, and each test is named.
func TestThePageNamesTheTestsThatTryIt(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	page := string(text)
	sources := map[string]string{}
	for _, pattern := range []string{"../../../*/*_test.go", "../../*/*_test.go", "*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			folder, err := filepath.Abs(filepath.Dir(file))
			require.NoError(t, err)
			sources[filepath.Base(folder)] += string(source)
		}
	}
	named := regexp.MustCompile("`([a-z]+)\\.(Test[A-Za-z0-9]+)`")
	inTable, found := 0, 0
	for _, line := range strings.Split(page, "\n") {
		tests := named.FindAllStringSubmatch(line, -1)
		row := strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| what holds") && !strings.HasPrefix(line, "| ---")
		if row {
			inTable++
			require.NotEmpty(t, tests, "no test: %s", line)
		}
		for _, test := range tests {
			found++
			require.Contains(t, sources[test[1]], "\nfunc "+test[2]+"(t *testing.T)", "there is no such test: %s", test[0])
		}
	}
	require.Greater(t, inTable, 20)
	require.Greater(t, found, inTable)
	for _, test := range regexp.MustCompile(`\nfunc (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(sources["standby"], -1) {
		require.Contains(t, page, "`standby."+test[1]+"`", "docs/operations.md does not name it")
	}
}
