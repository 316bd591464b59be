package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// print writes a report to standard output. A report that cannot be written is
// an error: its reader would take a part for the whole.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

func (a *app) printf(format string, args ...any) error {
	return a.print(fmt.Sprintf(format, args...))
}

// printJSON writes a report for programs.
func (a *app) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return a.print(string(text) + "\n")
}

// note writes to standard error, for which there is no one to tell.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, format, args...)
}

// table lays rows out in columns. A head in capitals comes first if there is one.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = plain(fmt.Sprint(cell))
	}
	t.rows = append(t.rows, row)
}

func (t *table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	write := func(row []string) { _, _ = fmt.Fprintln(w, strings.Join(row, "\t")) }
	if len(t.head) > 0 {
		write(t.head)
	}
	for _, row := range t.rows {
		write(row)
	}
	_ = w.Flush() // to a builder, which takes everything
	lines := strings.SplitAfter(b.String(), "\n")
	for i, line := range lines {
		if trimmed := strings.TrimRight(line, " \n"); strings.HasSuffix(line, "\n") {
			lines[i] = trimmed + "\n"
		}
	}
	return strings.Join(lines, "")
}

// plain returns text that takes one cell and cannot steer a terminal.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, s)
}

// short cuts text that would make a table too wide.
func short(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	return string(runes[:width-1]) + "…"
}

// count returns "1 row", "2 rows".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// orDash returns a sign for what there is nothing of.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
