package sqlgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// PlannedFile is a generated file with the name it has, or will have, in a folder.
type PlannedFile struct {
	Name   string // 00004_anon_anon_rebuild_counts.sql
	SQL    string
	Exists bool // with these very bytes
}

// ErrFileDiffers says that a migration that is in the folder would have to
// change. It may have been applied, so it is never written over.
var ErrFileDiffers = errors.New("a migration that exists would change")

var migrationName = regexp.MustCompile(`^([0-9]+)_.*\.(sql|go)$`)

// Plan gives each generated file its name in a folder of migrations: the name
// of the file that is there already for the same table, else the next number
// above all that are there. Nothing is written. A file that is there with
// other bytes is [ErrFileDiffers].
func Plan(dir string, files []GeneratedFile) ([]PlannedFile, error) {
	present, highest, err := readMigrations(dir)
	if err != nil {
		return nil, err
	}
	var out []PlannedFile
	var problems []error
	next := highest
	for _, f := range files {
		existing := present.find(f)
		if existing == nil {
			number := f.Number
			if number <= next {
				number = next + 1
			}
			next = number
			out = append(out, PlannedFile{Name: fmt.Sprintf("%05d_%s.sql", number, f.Base), SQL: f.SQL})
			continue
		}
		if !bytes.Equal(existing.text, []byte(f.SQL)) {
			path, difference := filepath.Join(dir, existing.name), firstDifference(string(existing.text), f.SQL)
			problems = append(problems, differs(path, "what the definitions give", "another text: "+difference,
				fmt.Errorf("%w: %s: %s", ErrFileDiffers, path, difference)))
		}
		out = append(out, PlannedFile{Name: existing.name, SQL: f.SQL, Exists: true})
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return out, nil
}

// Write writes the files that are not there yet into dir, which it makes when
// needed, and returns their names. Each is written beside and then renamed, so
// that none is left half-written.
func Write(dir string, planned []PlannedFile) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("sqlgen: make folder: %w", err)
	}
	var written []string
	for _, f := range planned {
		if f.Exists {
			continue
		}
		if err := writeFile(filepath.Join(dir, f.Name), []byte(f.SQL)); err != nil {
			return written, err
		}
		written = append(written, f.Name)
	}
	return written, nil
}

func writeFile(path string, text []byte) error {
	if err := os.WriteFile(path+".tmp", text, 0o644); err != nil {
		return fmt.Errorf("sqlgen: write file: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("sqlgen: write file: %w", errors.Join(err, os.Remove(path+".tmp")))
	}
	return nil
}

type migrationFile struct {
	name   string
	number int
	base   string
	table  string
	text   []byte // of an .sql file
}

type migrationFiles []migrationFile

// find returns the file of the same table, or of the same part of the cs9 schema.
func (m migrationFiles) find(f GeneratedFile) *migrationFile {
	i := slices.IndexFunc(m, func(e migrationFile) bool {
		return e.table == f.Table && (f.Table != "" || e.base == f.Base)
	})
	if i < 0 {
		return nil
	}
	return &m[i]
}

// ErrSameNumber says that two migrations have one number: they come from
// branches that were merged.
var ErrSameNumber = errors.New("two migrations have one number")

// twice returns an error for files of one number.
func (m migrationFiles) twice(dir string) error {
	first := map[int]string{}
	for _, f := range m {
		if other := first[f.number]; other != "" {
			return differs(filepath.Join(dir, f.name), "a number of its own", "that of "+other,
				fmt.Errorf("%w: %s and %s: rename the one that no database has applied to a number above all others, and after it, in their order, those that need it", ErrSameNumber, filepath.Join(dir, other), f.name))
		}
		first[f.number] = f.name
	}
	return nil
}

func readMigrations(dir string) (migrationFiles, int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("sqlgen: read folder of migrations: %w", err)
	}
	var files migrationFiles
	highest := 0
	for _, e := range entries {
		match := migrationName.FindStringSubmatch(e.Name())
		if match == nil || e.IsDir() {
			continue
		}
		number, err := strconv.Atoi(match[1])
		if err != nil {
			return nil, 0, fmt.Errorf("sqlgen: %s: its number is too large: %w", filepath.Join(dir, e.Name()), err)
		}
		highest = max(highest, number)
		if match[2] != "sql" {
			files = append(files, migrationFile{name: e.Name(), number: number, base: e.Name()})
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, 0, fmt.Errorf("sqlgen: read migration: %w", err)
		}
		_, base, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		files = append(files, migrationFile{name: e.Name(), number: number, base: base, table: markedTable(text), text: text})
	}
	return files, highest, nil
}

// markedTable returns the table that a generated file says it is for.
func markedTable(text []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for range 3 {
		if !lines.Scan() {
			break
		}
		if table, ok := strings.CutPrefix(lines.Text(), tableMarker); ok {
			return table
		}
	}
	return ""
}

func firstDifference(have, want string) string {
	haveLines, wantLines := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range max(len(haveLines), len(wantLines)) {
		h, w := lineAt(haveLines, i), lineAt(wantLines, i)
		if h != w {
			return fmt.Sprintf("line %d is %q and would become %q; restore the file, or remove it if it was never applied", i+1, h, w)
		}
	}
	return "no difference"
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
