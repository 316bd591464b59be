package readers_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the tables of docs/readers.md anew")

const (
	page   = "../../docs/readers.md"
	readme = "../../README.md"
)

func TestP12ThePageSaysWhatIsPromised(t *testing.T) {
	if *update {
		writeSection(t, "readers", promiseTable())
	}
	if diff := cmp.Diff(promiseTable(), section(t, page, "readers")); diff != "" {
		t.Errorf("docs/readers.md; go test ./internal/readers -update writes it anew\n%s", diff)
	}
}

func TestP12TheReadmeRepeatsThePage(t *testing.T) {
	if diff := cmp.Diff(section(t, page, "readers"), section(t, readme, "readers")); diff != "" {
		t.Errorf("README.md says something else than docs/readers.md\n%s", diff)
	}
}

// promiseTable is the table of what readers see, one line a group.
func promiseTable() string {
	var out strings.Builder
	row := func(first string, cell func(mode string) string) {
		fmt.Fprintf(&out, "| %s |", first)
		for _, mode := range modes {
			fmt.Fprintf(&out, " %s |", cell(mode))
		}
		out.WriteString("\n")
	}
	row("reader", func(mode string) string { return "`" + mode + "`" })
	row("---", func(string) string { return "---" })
	for g := range groups {
		row(lines[g], func(mode string) string { return inCell(promised[mode][g]) })
	}
	row("readers wait for a lock", func(mode string) string { return waits[mode] })
	return out.String()
}

// inCell joins classes as a cell of a table says them.
func inCell(seen []class) string {
	var words []string
	for _, c := range classes {
		if slices.Contains(seen, c) {
			words = append(words, string(c))
		}
	}
	return strings.Join(words, ", ")
}

// section returns what is between two markers of a file.
func section(t *testing.T, file, name string) string {
	t.Helper()
	_, body, _ := cutSection(t, file, name)
	return body
}

func cutSection(t *testing.T, file, name string) (before, body, after string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->"
	before, rest, found := strings.Cut(string(text), begin)
	body, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s: there is no %q with a %q after it", file, begin, end)
	}
	return before + begin, body, end + after
}

func writeSection(t *testing.T, name, body string) {
	t.Helper()
	before, _, after := cutSection(t, page, name)
	if err := os.WriteFile(page, []byte(before+body+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// measuredTable is the table of what each reader saw, with its longest reading.
func measuredTable(labs map[string]*lab) string {
	var out strings.Builder
	out.WriteString("| reader | " + strings.Join(modes, " | ") + " |\n| --- | --- | --- | --- |\n")
	for _, name := range labs[modes[0]].inOrder() {
		fmt.Fprintf(&out, "| %s |", name)
		for _, mode := range modes {
			r := labs[mode].records[name]
			cell := inCell(r.inWords())
			if r.longest > 0 {
				cell += fmt.Sprintf("; %d ms", r.longest.Round(time.Millisecond).Milliseconds())
			}
			if r.lockWait > 0 {
				cell += fmt.Sprintf(", lock %d ms", max(r.lockWait.Round(time.Millisecond), time.Millisecond).Milliseconds())
			}
			fmt.Fprintf(&out, " %s |", cell)
		}
		out.WriteString("\n")
	}
	return out.String()
}

var durations = regexp.MustCompile(`; [^|]*`)

// measuredOnPage is what docs/readers.md says that each reader saw, without the
// durations: by mode and reader.
func measuredOnPage(t *testing.T) map[string]map[string][]string {
	t.Helper()
	out := map[string]map[string][]string{}
	for i, line := range strings.Split(strings.TrimSpace(section(t, page, "measured")), "\n") {
		cells := strings.Split(strings.Trim(durations.ReplaceAllString(line, " "), "| "), "|")
		if i < 2 || len(cells) != len(modes)+1 {
			continue
		}
		for m, mode := range modes {
			if out[mode] == nil {
				out[mode] = map[string][]string{}
			}
			out[mode][strings.TrimSpace(cells[0])] = strings.Split(strings.TrimSpace(cells[m+1]), ", ")
		}
	}
	return out
}

// comparePage holds what the readers of a mode saw against the page. That one of
// a group did not see all of what it may see this time is chance, so the page
// must say no less than what was seen, and name each reader.
func (l *lab) comparePage() {
	l.Helper()
	said := measuredOnPage(l.T)[l.mode]
	if diff := lineDiff(slices.Sorted(maps.Keys(l.records)), slices.Sorted(maps.Keys(said))); diff != "" {
		l.Errorf("docs/readers.md lists other readers (- seen, + listed); go test ./internal/readers -update writes it anew\n%s", diff)
	}
	for name, r := range l.records {
		for _, c := range r.inWords() {
			if said[name] != nil && !slices.Contains(said[name], string(c)) {
				l.Errorf("%s: docs/readers.md says that %s saw %v, and it saw %q too", l.mode, name, said[name], c)
			}
		}
	}
	for name, classes := range said {
		for _, c := range classes {
			if r := l.records[name]; r != nil && !mayBeSeen(l.mode, r.group, class(c)) {
				l.Errorf("%s: docs/readers.md says that %s saw %q, which the mode does not allow", l.mode, name, c)
			}
		}
	}
}
