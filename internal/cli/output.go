package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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

// printf writes a report of the format's own lines: what is put into them takes
// none, and cannot steer a terminal.
func (a *app) printf(format string, args ...any) error {
	return a.print(fmt.Sprintf(format, plainAll(args)...))
}

// printJSON writes a report for programs.
func (a *app) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return a.print(string(text) + "\n")
}

// note writes lines to standard error, for which there is no one to tell. What is
// put into them takes no line of its own, and cannot steer a terminal.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, format, plainAll(args)...)
}

// noteJSON writes a line for programs to standard error.
func (a *app) noteJSON(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(`{"error":"this cannot be written as JSON"}`)
	}
	_, _ = fmt.Fprintf(a.stderr, "%s\n", text)
}

// remark says something beside the report.
func (a *app) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.json {
		a.noteJSON(map[string]string{"note": text})
		return
	}
	a.note("%s\n", text)
}

// plainAll makes each text plain.
func plainAll(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			out[i] = plain(arg)
		case error:
			out[i] = plain(arg.Error())
		default:
			out[i] = arg
		}
	}
	return out
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

// plain returns text that takes one cell and cannot steer a terminal: what cannot
// be seen is written as Go does it, \x1b.
func plain(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case unicode.IsSpace(c):
			b.WriteByte(' ')
		case unicode.IsPrint(c):
			b.WriteRune(c)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
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
