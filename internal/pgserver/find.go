package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// EnvBinDir names the folder that holds the server to use, before all others.
const EnvBinDir = "CS9GEN_PG_BIN"

// MinVersion is the oldest major version of PostgreSQL that cs9gen supports.
const MinVersion = 14

// ErrNotFound says that no PostgreSQL server of a supported version is installed.
var ErrNotFound = fmt.Errorf("no PostgreSQL server of version %d or newer found; type: apt-get install postgresql", MinVersion)

// Find returns the folder of a PostgreSQL server's programs, and its major
// version: of $CS9GEN_PG_BIN when it is set, else the newest that Debian's
// packages installed, else the one that PATH or pg_config leads to. Its error is
// [ErrNotFound], or says what is wrong with $CS9GEN_PG_BIN.
func Find() (binDir string, version int, err error) {
	if dir := os.Getenv(EnvBinDir); dir != "" {
		version, err := versionOf(dir)
		if err != nil {
			return "", 0, fmt.Errorf("%s=%s: %w; unset it, or name the folder of a server's programs", EnvBinDir, dir, err)
		}
		return dir, version, nil
	}
	best, bestVersion := "", 0
	for _, dir := range candidates() {
		if v, err := versionOf(dir); err == nil && v > bestVersion {
			best, bestVersion = dir, v
		}
	}
	if best == "" {
		return "", 0, ErrNotFound
	}
	return best, bestVersion, nil
}

func candidates() []string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is valid
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	if out, err := exec.CommandContext(context.Background(), "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) ([0-9]+)`)

func versionOf(dir string) (int, error) {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			return 0, fmt.Errorf("it has no %s: %w", program, err)
		}
	}
	out, err := exec.CommandContext(context.Background(), filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("postgres --version: %w", err)
	}
	match := versionPattern.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("postgres --version said %q", out)
	}
	version, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return 0, fmt.Errorf("postgres --version said %q: %w", out, err)
	}
	if version < MinVersion {
		return 0, errors.Join(ErrNotFound, fmt.Errorf("this one is version %d", version))
	}
	return version, nil
}
