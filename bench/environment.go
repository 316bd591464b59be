package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/cs9gen/cs9gen/internal/figures"
)

// peers are the modules that are compared with.
var peers = map[string]string{
	"github.com/dbos-inc/dbos-transact-golang": "DBOS Transact for Go",
	"github.com/riverqueue/river":              "River",
}

// environment says where the benchmarks are run.
func (l *lab) environment(ctx context.Context) (figures.Environment, error) {
	e := figures.Environment{
		Machine: fmt.Sprintf("%d cores (%s), %s of memory", runtime.NumCPU(),
			find("/proc/cpuinfo", `model name\s*:\s*(.*)`), memory()),
		OS:       runtime.GOOS + "/" + runtime.GOARCH + ", Linux " + find("/proc/version", `version (\S+)`) + ", " + find("/etc/os-release", `PRETTY_NAME="(.*)"`),
		Go:       "Go " + strings.TrimPrefix(runtime.Version(), "go"),
		Commit:   commit(ctx, l.cfg.root),
		Settings: maps.Clone(settings),
		Versions: map[string]string{},
		Seed:     l.cfg.seed,
	}
	if err := l.admin.QueryRow(ctx, "SHOW server_version").Scan(&e.PostgreSQL); err != nil {
		return e, fmt.Errorf("ask for the server's version: %w", err)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if name, ok := peers[m.Path]; ok {
				e.Versions[name] = m.Version
			}
		}
	}
	if l.partman {
		var version string
		if err := l.admin.QueryRow(ctx, "SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'").Scan(&version); err != nil {
			return e, fmt.Errorf("ask for pg_partman's version: %w", err)
		}
		e.Versions["pg_partman"] = version
	}
	return e, nil
}

// find returns what the pattern captures in a file, or "unknown".
func find(path, pattern string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	match := regexp.MustCompile(pattern).FindSubmatch(text)
	if match == nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(match[1]))
}

func memory() string {
	var kib int
	if _, err := fmt.Sscan(find("/proc/meminfo", `MemTotal:\s*(\d+)`), &kib); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d GiB", (kib+512<<10)>>20)
}

// commit is the commit that is measured, with a word when the tree differs.
func commit(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return "an unknown commit"
	}
	return strings.TrimSpace(string(out))
}
