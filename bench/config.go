package main

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed tables.yaml swapped.yaml
var definitions embed.FS

// fullRows is the size that the reaches are meant for. Every other size is
// scaled with it.
const fullRows = 3_000_000

// config says what is measured, and how big.
type config struct {
	rows    int
	repeats int      // of each piece
	only    []string // ids; none: all
	seed    uint64
	root    string    // the repository: results go to bench/ and docs/ in it
	log     io.Writer // what is going on
}

// configure reads the environment: ROWS, REPEATS, ONLY and SEED.
func configure(root string, log io.Writer) (config, error) {
	cfg := config{rows: fullRows, repeats: 5, seed: 40, root: root, log: log}
	for _, v := range []struct {
		name  string
		value *int
		least int
	}{{"ROWS", &cfg.rows, leastRows}, {"REPEATS", &cfg.repeats, 1}} {
		text := os.Getenv(v.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < v.least {
			return cfg, fmt.Errorf("%s is %q; set it to a number, %d at least", v.name, text, v.least)
		}
		*v.value = n
	}
	if text := os.Getenv("SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return cfg, fmt.Errorf("SEED is %q; set it to a number", text)
		}
		cfg.seed = seed
	}
	for id := range strings.FieldsFuncSeq(os.Getenv("ONLY"), func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.ContainsFunc(groups, func(g group) bool { return slices.Contains(g.ids, id) }) {
			return cfg, fmt.Errorf("ONLY names %q; there are %s", id, strings.Join(ids(), ", "))
		}
		cfg.only = append(cfg.only, id)
	}
	return cfg, nil
}

// leastRows has one day in a batch.
const leastRows = fullRows / 200

// wants reports whether one of the benchmarks is measured.
func (c config) wants(ids ...string) bool {
	return len(c.only) == 0 || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(c.only, id) })
}

// scaled returns a size for the rows that are measured: n of fullRows, in whole
// days.
func (c config) scaled(n int) int {
	return max(n/1000*c.rows/fullRows, 1) * locations
}

// batch is how many rows one transaction of a publish moves: 200,000, scaled.
func (c config) batch() int { return c.scaled(200_000) }

// plans is how many plans, steps and jobs B7 drives.
func (c config) plans() int { return max(5000*c.rows/fullRows, 2) }

func (c config) data(n int, o order) dataset {
	return dataset{rows: c.scaled(n), order: o, seed: c.seed}
}

func (c config) say(format string, args ...any) {
	fmt.Fprintf(c.log, format+"\n", args...)
}

// definition writes a definition file where the generator can read it.
func (l *lab) definition(name string) (string, error) {
	text, err := definitions.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read definition: %w", err)
	}
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("write definition: %w", err)
	}
	return path, nil
}
